#!/bin/busybox sh
# The init of the machine that stays up: it mounts each state of the disk, prints what is there,
# starts the upgrader with the same options, and prints what has started. verdict.py judges.
. /common.sh

# Prints the program that a link names, and whether that file is as it was made.
look_at_link() {
  name=$(readlink "/data/$1") || { tell "$1 is not there"; return; }
  version=${name##*/}
  if agent_of "$version" | cmp -s - "/data/$1" && [ -x "/data/$1" ]; then
    tell "$1 $version whole"
  else
    tell "$1 $version torn: $(ls -ln "/data/releases" | tr '\n' ';')"
  fi
}

works() { [ -s /run/active ]; }

works_or_ended() { works || has_ended; }

judge() {
  tell "state $1"
  losetup -o "$(($1 * BYTES))" /dev/loop0 /dev/vda
  [ "$CHECKED" = no ] || /bin/e2fsck -fy /dev/loop0 >/run/fsck 2>&1
  if ! mount_data /dev/loop0 2>/run/mount; then
    tell "not mounted: $(cat /run/mount) $(dmesg | tail -n 3 | tr '\n' ';')"
    losetup -d /dev/loop0
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
  tell "files $(cd /data && find . -name lost+found -prune -o -print | tr '\n' ' ')"
  unmount_data || tell 'not unmounted'
  losetup -d /dev/loop0
}

for state in $(seq 0 $((STATES - 1))); do
  judge "$state"
done
tell 'over'
poweroff -f
