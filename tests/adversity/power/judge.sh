#!/bin/busybox sh
# The init of the virtual machine that judges: it mounts each state of the disk, prints the files
# that it finds, starts the upgrader with the same options as before the cut, and prints which agent
# has started. verdict.py judges the output.
. /common.sh

# Prints the program that a link names, and whether that program's file is unchanged.
look_at_link() {
  name=$(readlink "/data/$1") || { tell "$1 is not there"; return; }
  version=${name##*/}
  if agent_of "$version" | cmp -s - "/data/$1" && [ -x "/data/$1" ]; then
    tell "$1 $version whole"
  else
    tell "$1 $version torn: $(ls -ln "/data/releases" | tr '\n' ';')"
  fi
}

# Prints what agent-releases finds after the power cut: the desired release, the releases, and
# whether they are complete. Then runs `agent-releases prune`, which must also remove files that an
# interrupted command has left, and prints the names of all files.
look_at_releases() {
  [ -e /data/store ] || return
  tell "desired $(cat /data/store/desired)"
  said=$(releases verify --all 2>&1)
  tell "verified $? $(echo "$said" | tr '\n' ';')"
  tell "kept $(cd /data/store && ls | tr '\n' ' ')"
  said=$(releases prune --keep=1 2>&1)
  tell "pruned $? $(echo "$said" | tr '\n' ';')"
  tell "left $(cd /data/store && find . | tr '\n' ' ')"
}

# usage: insert STATE
# Makes the state STATE the content of /dev/loop0, or of the flash if the file system is a flash
# file system.
insert() {
  case $FS in
    jffs2 | ubifs)
      flash_erase -q /dev/mtd0 0 0 &&
        dd if=/dev/vda of=/dev/mtd0 bs=65536 skip=$(($1 * BYTES / 65536)) \
          count=$((BYTES / 65536)) 2>/dev/null
      ;;
    *) [ "$WHOLE" = yes ] || losetup -o "$(($1 * BYTES))" /dev/loop0 /dev/vda ;;
  esac
}

remove() {
  case $FS in
    jffs2) ;;
    ubifs) ubidetach -m 0 >/dev/null 2>&1 ;;  # the flash is attached even if the mount failed
    *) [ "$WHOLE" = yes ] || losetup -d /dev/loop0 ;;
  esac
}

works() { [ -s /run/active ]; }

works_or_ended() { works || has_ended; }

judge() {
  tell "state $1"
  insert "$1" || tell 'not inserted'
  [ "$CHECKED" = no ] || /bin/e2fsck -fy "$disk" >/run/fsck 2>&1
  if ! mount_data "$disk" 2>/run/mount; then
    tell "not mounted: $(cat /run/mount) $(dmesg | tail -n 3 | tr '\n' ';')"
    remove
    return
  fi
  look_at_link current
  look_at_link previous
  : >/run/started
  for start in 1 2 3 4; do
    start_upgrader
    wait_until 60 works_or_ended
    works && break
    tell "log $(tr '\n' ';' </run/log)"
  done
  works && tell "active $(cat /run/active) at start $start"
  tell "started $(tr '\n' ' ' </run/started)"
  has_ended || stop_upgrader
  look_at_releases
  tell "files $(cd /data && find . \( -name lost+found -o -name store \) -prune -o -print |
    tr '\n' ' ')"
  unmount_data || tell 'not unmounted'
  remove
}

# Judges all states in which a power cut may have left the disk. If WHOLE is `yes`, there is only
# one state, which is the disk /dev/vda itself. Otherwise /dev/vda contains the states one after the
# other, and insert() makes each state in turn the content of /dev/loop0.
disk=/dev/loop0
[ "$WHOLE" = no ] || disk=/dev/vda
for state in $(seq 0 $((STATES - 1))); do
  judge "$state"
done
tell 'over'
poweroff -f
