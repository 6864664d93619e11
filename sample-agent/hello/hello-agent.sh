#!/bin/sh
# Serves a counter on a TCP port: each connection gets the next number, and no number is given away
# twice.
#
# usage: hello-agent.sh PORT FILE, where FILE holds the last number that was given away. A number is
# on the disk before anybody gets it, so upgrades, crashes and power cuts repeat no number. A number
# that was written, but not sent before a crash, is skipped. Needs socat, and flock and setpriv of
# util-linux.
#
# This process talks to the upgrader. A second process, socat, listens on the port, and runs this
# script with --next for each connection. The script locks FILE.active while it takes a number.
# FILE.active also holds the active agent's pid. A client that has connected to an agent that is no
# longer active gets no number, and must connect again.

number_next() { # usage: number_next FILE AGENT
  exec 5<"$1.active"
  flock 5
  read -r active <"$1.active" && [ "$active" = "$2" ] || return
  number=0
  [ ! -e "$1" ] || read -r number <"$1"
  number=$((number + 1))
  echo "$number" >"$1.new" && sync "$1.new" && mv "$1.new" "$1" && sync "$(dirname "$1")" &&
    echo "$number"
}

if [ "$1" = --next ]; then
  number_next "$2" "$3"
  exit
fi

port=$1 file=$2
alone='' watchdog=''
if [ "${AGENT_PROTOCOL-}" ]; then
  exec 8<&0 9>&1 </dev/null >&2 # printed text does not go into the upgrader's pipes
else
  alone=yes
  exec 8</dev/null 9>/dev/null
fi
unset AGENT_PROTOCOL AGENT_PROTOCOL_LOCK_FD

say() { printf '{"type":%s}\n' "$1" >&9; }
hear() { # waits for a message of this type and skips all others; fails at the end of input
  while read -r line <&8; do
    line=$(printf %s "$line" | tr -d ' \t\r')
    case $line in *\"watchdog_ms\":[0-9]*) watchdog=${line#*\"watchdog_ms\":} ;; esac
    case $line in *\"type\":\"$1\"*) return 0 ;; esac
  done
  return 1
}

trap 'exit 143' TERM # SIGTERM ends an agent at once that is not active yet
say '"hello","protocol":1,"version":"1.0"'
if [ -e "$file" ] && ! grep -qx '[0-9]*' "$file"; then
  say '"unfit","reason":"the counter file holds no number"'
  exit 1
fi
say '"ready"'
[ "$alone" ] || hear activate || exit 1

stopping=
trap 'stopping=yes' TERM
# A subshell waits for `stop` or the end of input, and then sends SIGTERM to its parent, which is
# the process of this script. First the subshell checks that the process of this script is still its
# parent, since the pid of a process that has exited may be reused.
[ "$alone" ] || (exec 9>&-; hear stop || :; exec sh -c '[ $PPID = $0 ] && kill $0' $$) &
(exec 5>>"$file.active"; flock 5; echo $$ >"$file.active")
# The kernel kills socat when this process ends for any reason. Otherwise socat would keep the port.
setpriv --pdeathsig KILL socat "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork" \
  "EXEC:$0 --next $file $$" 8<&- 9>&- &
listener=$!
# If the upgrader wants heartbeats, sends three of them within each watchdog_ms. SIGTERM interrupts
# a pause between heartbeats. But a SIGTERM that comes just before a pause is noticed only after the
# pause.
watchdog=${watchdog%%[!0-9]*} pause=1
[ -z "$watchdog" ] || pause=$((watchdog / 3000)).$(printf %03d $((watchdog / 3 % 1000)))
until [ "$stopping" ] || ! kill -0 "$listener" 2>/dev/null; do
  [ -z "$watchdog" ] || say '"heartbeat"'
  sleep "$pause" 8<&- 9>&- &
  wait "$!" || : # fails if SIGTERM has come, which must not end a script with `set -e`
done
# Repeats the signal until the listener has gone, since a child process that has not executed socat
# yet may miss the first signal.
while kill "$listener" 2>/dev/null; do sleep 0.01; done
# Waits until the connection under way has its number. Then empties FILE.active, which named this
# agent, so that no later connection gets a number.
(exec 5>>"$file.active"; flock 5; : >"$file.active")
say '"stopped"'
