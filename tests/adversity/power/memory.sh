#!/bin/busybox sh
# The init of a small virtual machine with a MIPS processor. Starts notify-watchdog, which runs an
# upgrader with an agent, as on a small device. Prints how much memory each of these programs takes.
# tests/adversity/power/memory reads these lines.
/bin/busybox mkdir -p /proc /dev /run /tmp
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc

tell() { echo "told: $*"; }

mkfifo /run/watchdog
cat /run/watchdog >/dev/null &
mkdir /run/control
ln -s /bin/hello-agent /run/current
ip link set lo up
follow=
agent=hello-agent
arguments='7000 /run/number'
if [ -x /bin/agentify ]; then
  # The agent is agentify. It runs a daemon that only sleeps, and meanwhile it looks for new
  # releases of this daemon.
  agent=agentify
  arguments=
  mkdir -p /run/releases
  echo web >/run/releases/.name
  printf '#!/bin/sh\nexec sleep 1000000\n' >/run/daemon
  chmod 755 /run/daemon
  ln -sf /run/daemon /run/current
  follow='--adapter=/bin/agentify --adapter=--follow=/run/releases --adapter=--version=1.0.0'
fi
/bin/notify-watchdog --device=/run/watchdog /bin/upgrader --relink --previous=/run/previous \
  --attempts=3 --control=/run/control $follow /run/current $arguments 2>/run/log &
tries=0
until grep -q '"phase":"running"' /run/control/status.json 2>/dev/null; do
  [ $((tries += 1)) -lt 600 ] || { tell "not active: $(tr '\n' ';' </run/log)"; break; }
  usleep 100000
done
sleep 5  # until agentify waits for releases

# usage: sum_of FIELD NAME
# Prints the sum of one field of smaps_rollup over all processes of a program.
sum_of() {
  sum=0
  for process in $(pidof "$2"); do
    sum=$((sum + $(sed -n "s/^$1: *\([0-9]*\) kB/\1/p" "/proc/$process/smaps_rollup")))
  done
  echo $sum
}

for name in notify-watchdog upgrader $agent; do
  tell "$name $(sum_of Pss $name) $(sum_of Private_Dirty $name)"
done
tell 'over'
poweroff -f
