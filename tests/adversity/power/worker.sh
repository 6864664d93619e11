#!/bin/busybox sh
# The init of the virtual machine whose power is cut: it makes upgrades, good and bad, on a disk
# whose writes and flushes are logged. It writes notes into the disk's log: `begin V` before an
# upgrade to version V, and after this upgrade a note that says how the upgrade ended.
. /common.sh

# Writes a note to the last sectors of the disk, after the end of the file system, or to the flash's
# log.
mark() {
  case $FS in
    jffs2 | ubifs) printf '%s\0' "$*" >/dev/mtd1 ;;
    *) /bin/mark /dev/vda "$SECTOR" "$*" ;;
  esac && tell "$*"
}

runs() { grep -q '"phase":"running"' /run/control/status.json 2>/dev/null; }

outcome_of() {
  sed -n "s/.*\"id\":\"$1\"[^{}]*\"outcome\":\"\([a-z_]*\)\".*/\1/p" /run/control/status.json \
    2>/dev/null
}

is_over() { [ -n "$(outcome_of "$1")" ]; }

request() {
  printf '{"type":"upgrade","request":"r%s","id":"u%s","executable":"/data/releases/%s"}\n' \
    "$1" "$1" "$2" | timeout 10 dd of=/run/control/control bs=4096 2>/dev/null
}

# Installs a release without syncing it, as a careless program would do. Also writes random bytes,
# without a sync, to /data/junk, a file that no program reads.
bring() {
  agent_of "$1" >"/data/releases/.$1"
  chmod 755 "/data/releases/.$1"
  mv "/data/releases/.$1" "/data/releases/$1"
  dd if=/dev/urandom of="/data/junk" bs=4096 count=$((number % 7 + 1)) conv=notrunc 2>/dev/null
}

prune() {
  for file in /data/releases/*; do
    case $file in
      "$(readlink -f /data/current)" | "$(readlink -f /data/previous)") ;;
      *) rm -f "$file" ;;
    esac
  done
}

upgrade() {
  bring "$1"
  mark "begin $1"
  request "$number" "$1"
  wait_until 30 is_over "u$number"
  mark "$(outcome_of "u$number") $1"
}

kill_amid() {
  bring "$1"
  mark "begin $1"
  request "$number" "$1"
  usleep $((number * 37 % 40 * 10000))
  kill -KILL "$upgrader"
  wait "$upgrader"
  mark "killed $1"
  start_upgrader
  wait_until 30 runs
}

# Installs a release, syncs it as a careful installer does, and upgrades to it.
upgrade_synced() {
  bring "$1"
  sync
  mark "synced $1"
  request "$number" "$1"
  wait_until 30 is_over "u$number"
  mark "lasts $1"
}

# usage: keep_release VERSION
# Adds the release to the directory of agent-releases, makes it the desired one, and removes older
# ones.
keep_release() {
  mark "adds $1"
  must_release --name=web add "/published/web-$1-any.json"
  mark "added $1"
  must_release desire "$1"
  mark "desired $1"
  must_release prune --keep=1
  mark 'pruned'
}

must_release() {
  releases "$@" >/run/said 2>&1 && return
  tell "agent-releases $*: $(tr '\n' ';' </run/said)"
  poweroff -f
}

# usage: write_back CENTISECONDS CENTISECONDS
# Sets when the kernel writes unsynced data to the disk. The first number is the interval between
# two writes, the second is the age at which data must be written.
write_back() {
  echo "$1" >/proc/sys/vm/dirty_writeback_centisecs
  echo "$2" >/proc/sys/vm/dirty_expire_centisecs
}

# Starts the upgrader about once a second, as an init would, with two releases that both exit
# immediately. Before that, sets the kernel's default intervals for writing unsynced data to the
# disk.
crash_loop() {
  for version in "$(readlink -f /data/current)" "$(readlink -f /data/previous)"; do
    printf '#!/bin/sh\nexit 3\n' >"$version"
  done
  write_back 500 3000
  sync
  sleep 40
  mark 'loop begins'
  for _ in $(seq 1 60); do
    start_upgrader
    wait "$upgrader"
    sleep 1
  done
  mark 'loop ends'
}

mount_data /dev/vda || { tell "not mounted"; poweroff -f; }
write_back 20 20
number=0
if [ "$FS" != overlay ]; then
  mkdir /data/releases
  bring 0-good
  ln -s releases/0-good /data/current
fi
sync
mark 'first 0-good'
start_upgrader
wait_until 60 runs || tell "the first agent is not active: $(cat /run/log)"
mark 'begun'
for number in $(seq 1 "$UPGRADES"); do
  case $((number % 8)) in
    2) upgrade "$number-dies" ;;
    4) upgrade "$number-crashes" ;;
    6) kill_amid "$number-good" ;;
    7)
      mark 'stops'
      stop_upgrader
      start_upgrader
      wait_until 30 runs
      mark 'restarted'
      prune
      ;;
    *) upgrade "$number-good" ;;
  esac
  keep_release "1.0.$number"
done
# No power is cut after this point. The rest only measures how many writes the disk gets.
mark 'over'
if [ "$WEAR" != 0 ]; then
  # Mounts the disk with noatime, as devices with flash do. Otherwise the start of a new program
  # would change its access time, and the journal would be written once more.
  [ "$FS" = overlay ] || mount -o remount,noatime /data
  for number in $(seq 101 108); do
    upgrade_synced "$number-good"
    sleep 2
  done
  stop_upgrader
  crash_loop
fi
tell 'over'
poweroff -f
