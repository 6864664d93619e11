# Functions for the inits of all virtual machines, such as those that print an agent's program or
# start an upgrader. Each init sources this file. The file /config sets FS, OPTIONS, SECTOR and
# other variables.

/bin/busybox mkdir -p /proc /sys /dev /run /tmp /data
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
. /config
while read -r module; do
  parameters=
  [ "$module" != flash.ko ] || parameters=$FLASH
  insmod "/modules/$module" $parameters 2>/dev/null
done </modules/order
ip link set lo up 2>/dev/null

tell() { echo "$*" >/dev/ttyS1; }

# usage: mount_data DEVICE
# Mounts the file system on /data. For an overlay, DEVICE has the upper directory, on ext4, and the
# lower directory is a squashfs with the first release. On flash, DEVICE is not used: the file
# system is on mtd0. If the mount fails, prints the reason.
mount_data() {
  case $FS in
    overlay)
      mkdir -p /upper /lower
      [ -e /lower/releases ] || { losetup /dev/loop1 /lower.squashfs &&
        mount -t squashfs -o ro /dev/loop1 /lower; }
      mount -t ext4 -o "$OPTIONS" "$1" /upper || return
      mkdir -p /upper/files /upper/work
      mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work none /data
      ;;
    jffs2) mount -t jffs2 mtd0 /data ;;
    ubifs)
      ubiattach -m 0 >/dev/null || return
      [ -e /sys/class/ubi/ubi0_0 ] || ubimkvol /dev/ubi0 -N data -m >/dev/null || return
      mount -t ubifs ubi0:data /data
      ;;
    *) mount -t "$FS" -o "$OPTIONS" "$1" /data ;;
  esac
}

unmount_data() {
  umount /data || return
  case $FS in
    overlay) umount /upper ;;
    ubifs) ubidetach -m 0 >/dev/null ;;
  esac
}

# Prints the shell script of an agent whose version has the form NUMBER-KIND. The script is as long
# as a small program.
agent_of() {
  cat <<AGENT
#!/bin/sh
# Version $1.
echo $1 >>/run/started
echo '{"type":"hello","protocol":1,"version":"$1"}'
[ ${1#*-} != dies ] || exit 3
echo '{"type":"ready"}'
while read -r line; do
  case \$line in
    *'"activate"'*) echo $1 >/run/active; [ ${1#*-} != crashes ] || exit 4 ;;
    *'"stop"'*) echo '{"type":"stopped"}'; exit 0 ;;
  esac
done
exit
AGENT
  for row in $(seq 1 200); do
    echo "# Version $1, row $row: only here so that the file has several pages, torn or whole."
  done
}

# Starts the upgrader, and sets `upgrader` to its process id. Its log goes to /run/log.
start_upgrader() {
  rm -rf /run/control /run/active
  mkdir -p /run/control
  : >/run/log
  env $CARELESS_ENVIRONMENT /bin/upgrader --relink --previous=/data/previous --attempts=3 \
    --lock=/data/lock --control=/run/control --trial="$TRIAL" /data/current 2>>/run/log &
  upgrader=$!
}

# Runs a command of agent-releases on /data/store. The upgrader of this test does not use this
# directory: the releases that it runs are in /data/releases.
releases() {
  env $CARELESS_ENVIRONMENT /bin/agent-releases --dir=/data/store --keys=/keys "$@"
}

# usage: wait_until SECONDS COMMAND...
# Repeats the command until it succeeds. Fails if that takes longer than SECONDS.
wait_until() {
  tries=$(($1 * 20))
  shift
  while [ $((tries -= 1)) -ge 0 ]; do
    "$@" && return
    usleep 50000
  done
  return 1
}

has_ended() { ! kill -0 "$upgrader" 2>/dev/null; }

stop_upgrader() {
  kill -TERM "$upgrader"
  wait_until 30 has_ended || kill -KILL "$upgrader"
  wait "$upgrader"
}
