#!/bin/sh
# Tests the script that stops the sample agent under busybox init. The script must signal the
# upgrader that the lock's file names, and wait for its end. It must never signal another process
# that has got the pid of a dead upgrader.
#
# usage: play_busybox_stop.sh DIRECTORY
# DIRECTORY/input is a copy of the script that uses the lock's file `lock` in the working directory,
# and does not pause between two looks. The variable UPGRADER names the upgrader.
set -u
cd "$1" || exit 1

stranger=
upgrader=
trap '[ -z "$stranger$upgrader" ] || kill -KILL $stranger $upgrader 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

complain() {
  echo "busybox/stop $*"
  exit 1
}

mkfifo over errors || exit 1
exec 3<>over 4<>errors

stop() {
  sh ./input || complain "ended with status $? $1"
}

stop 'without a file'
: >lock
stop 'when the file is empty'

sh -c 'trap "echo >told; exit" TERM; read -r line <&3' &
stranger=$!
read -r line <"/proc/$stranger/stat"
started=$(echo "${line##*) }" | cut -d ' ' -f 20)
echo "$stranger $((started - 1))" >lock
stop 'when the file is stale'
echo >&3
wait "$stranger"
[ ! -e told ] || complain 'signalled a stranger'
stop 'when its process is gone'

# Acts as an upgrader that is starting its first agent: it has the lock, and the lock's file is
# still empty.
sh -c 'trap "echo >told; exit" TERM; echo >&4; read -r line <&3' &
stranger=$!
read -r line <&4
read -r line <"/proc/$stranger/stat"
started=$(echo "${line##*) }" | cut -d ' ' -f 20)
: >lock
mkdir bin
printf '#!/bin/sh\n[ "$1 $2" = "-n lock" ] || exit 2\necho %s >lock\nexit 1\n' \
  "$stranger $started" >bin/flock
chmod +x bin/flock
(PATH=$PWD/bin:$PATH && stop 'when the file is written late') || exit 1
[ -e told ] || complain 'did not wait for the file to be written'
wait "$stranger"
stranger=

# Starts an upgrader whose agent is still held. On the script's signal, the upgrader must end this
# agent, and exit with 0.
rm lock
"$UPGRADER" --lock=lock -- /bin/cat 2>errors 3<&- 4<&- &
upgrader=$!
read -r line <&4
case $line in *'started as process'*) ;; *) complain "cannot be tried: $line" ;; esac
stop 'when the upgrader runs'
wait "$upgrader"
status=$?
upgrader=
[ "$status" = 0 ] || complain "made the upgrader end with status $status"
exit 0
