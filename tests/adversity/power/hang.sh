#!/bin/busybox sh
# The init of a virtual machine with a hardware watchdog. It makes one program hang, mostly while an
# upgrade is on trial. After the watchdog has reset the machine, the second boot prints which
# version works. tests/adversity/power/hangs judges the output.
. /common.sh

# Prints the script of an agent that sends a heartbeat after each message, and also every 2 s. So
# the agent sends heartbeats often enough for the watchdog, whose timeout is 20 s.
beating_agent_of() {
  cat <<AGENT
#!/bin/sh
# Version $1.
echo '{"type":"hello","protocol":1,"version":"$1"}'
echo '{"type":"ready"}'
echo \$\$ >/run/pid
while kill -0 \$PPID; do  # until the upgrader has gone
  line=
  read -t 2 -r line
  case \$line in
    *'"activate"'*) echo $1 >/run/active ;;
    *'"stop"'*) echo '{"type":"stopped"}'; exit 0 ;;
  esac
  [ ! -e /run/syncs ] || { echo \$\$ >/data/beat && sync /data/beat; }
  echo '{"type":"heartbeat"}'
done
AGENT
}

bring() {
  beating_agent_of "$1" >"/data/releases/$1"
  chmod 755 "/data/releases/$1"
}

works() { [ "$(cat /run/active 2>/dev/null)" = "$1" ]; }

in_phase() { grep -q "\"phase\":\"$1\"" /run/control/status.json 2>/dev/null; }

start() {
  rm -f /run/active
  mkdir -p /run/control
  $WATCHED /bin/upgrader --relink --previous=/data/previous --attempts=3 --trial="$1" \
    --control=/run/control /data/current 2>/run/log &
  watched=$!
}

request() {
  printf '{"type":"upgrade","request":"%s","id":"%s","executable":"/data/releases/%s"}\n' \
    "$1" "$1" "$1" | timeout 10 dd of=/run/control/control bs=4096 2>/dev/null
}

committed() { grep -q '"outcome":"committed"' /run/control/status.json; }

hang() {
  case $KIND in
    agent) kill -STOP "$(cat /run/pid)" ;;
    upgrader) kill -STOP "$(pidof upgrader)" ;;
    watchdog) kill -STOP "$watched" ;;
    panic) echo c >/proc/sysrq-trigger ;;
    disk) /bin/dmsetup suspend --noflush --nolockfs data >/dev/null ;;
    none) ;;
  esac
}

# Puts a device-mapper layer between the file system and the disk. Once suspended, this layer no
# longer answers requests, like a disk that has died.
disk=/dev/vda
if [ "$KIND" = disk ]; then
  disk=/dev/mapper/data
  echo "0 $(cat /sys/block/vda/size) linear /dev/vda 0" | /bin/dmsetup create --noudevsync data
  IFS=: read -r major minor </sys/block/dm-0/dev
  [ -e $disk ] || mknod $disk b "$major" "$minor"
  touch /run/syncs
fi
mount -t ext4 -o commit=1 $disk /data || tell 'not mounted'
if [ -e /data/second ]; then
  start 1s
  wait_until 60 works 2-good || tell "active: $(cat /run/active) $(tr '\n' ';' </run/log)"
  tell "back on $(cat /run/active)"
  tell 'over'
  poweroff -f
fi
mkdir /data/releases
for version in 1-good 2-good 3-good; do bring $version; done
ln -s releases/1-good /data/current
sync
start 1s
wait_until 60 in_phase running || tell "not running: $(tr '\n' ';' </run/log)"
request 2-good
wait_until 60 committed || tell "not committed: $(tr '\n' ';' </run/log)"
kill -TERM "$watched"
wait "$watched"
start 1h
wait_until 60 in_phase running
touch /data/second
sync
# Requests an upgrade, so that the hang comes during its trial. Requests none if the agent is to
# hang, by itself or because of the disk: if an agent hung on trial, the upgrader would fall back,
# and the machine would not be reset.
if [ "$KIND" != agent ] && [ "$KIND" != disk ]; then
  request 3-good
  wait_until 60 in_phase trial || tell "not on trial: $(tr '\n' ';' </run/log)"
fi
tell "hangs: $KIND"
hang
usleep 600000000
tell "not reset: $(tr '\n' ';' </run/log)"
tell 'over'
poweroff -f
