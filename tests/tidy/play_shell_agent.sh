#!/bin/sh
# Runs the shell agent of agent-protocol(7) under the upgrader: it starts, is upgraded to itself by
# SIGUSR2, and ends by SIGTERM. Waits for what the agent writes; whoever runs this sets the limit.
#
# usage: play_shell_agent.sh DIRECTORY     with the agent as DIRECTORY/input; UPGRADER
set -u
cd "$1" || exit 1

upgrader=
trap '[ -z "$upgrader" ] || kill -QUIT "$upgrader" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

complain() {
  echo "the shell agent $*"
  exit 1
}

mv input agent && chmod +x agent && mkfifo work || exit 1
exec 7<>work
"$UPGRADER" --trial=0 --start-timeout=20s --stop-timeout=20s -- ./agent work 2>log 7<&- &
upgrader=$!

read -r first rest <&7
[ "$rest" = 'is at work' ] || complain "wrote something else: $first $rest"

kill -USR2 "$upgrader"
second=$first
while [ "$second" = "$first" ]; do read -r second rest <&7; done
kill -0 "$first" 2>/dev/null && complain 'of before is still there'
grep -q 'committed' log || complain 'was not committed'

kill -TERM "$upgrader"
wait "$upgrader"
status=$?
upgrader=
[ "$status" = 0 ] || complain "made the upgrader exit with status $status"
kill -0 "$second" 2>/dev/null && complain 'outlived the upgrader'

echo end >&7
while read -r pid rest <&7 && [ "$pid" != end ]; do
  [ "$pid" = "$second" ] || complain "wrote as $pid when $second was active"
done
exit 0
