#!/bin/sh
# Runs the shell agent of agent-protocol(7) under the upgrader: it starts, is upgraded to itself by
# SIGUSR2, and ends by SIGTERM. In a second run it is killed. Waits for the agent's output; the
# caller sets the time limit.
#
# usage: play_shell_agent.sh DIRECTORY
# DIRECTORY/input is the agent. The variable UPGRADER names the upgrader.
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
tries=0
while [ "$second" = "$first" ]; do
  [ "$((tries += 1))" -le 100 ] || complain 'wrote a hundred lines, and its successor none'
  read -r second rest <&7
done
kill -0 "$first" 2>/dev/null && complain 'of before is still there'
# Waits for the commit, since the new agent may work before the upgrader has logged the commit.
limit=$(($(date +%s) + 60))
until grep -q 'upgrade sigusr2-1 is committed' log; do
  [ "$(date +%s)" -lt "$limit" ] || complain 'was not committed within 60 s'
  grep -q 'upgrade sigusr2-1 failed' log && complain 'was not committed'
  kill -0 "$upgrader" 2>/dev/null || complain 'was left without an upgrader'
done

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

# A killed agent leaves its subshell behind, which then sees the end of input. The subshell must
# signal no process, since the agent's pid may belong to a stranger by then. Traces of the shells
# show whether it does.
mkdir bin && printf '#!/bin/sh\nexec /bin/sh -x "$@"\n' >bin/sh && chmod +x bin/sh || exit 1
sed '1s/$/ -x/' agent >traced && chmod +x traced && mkfifo trace || exit 1
cat <trace >log &
reader=$!
PATH=$PWD/bin:$PATH "$UPGRADER" -- ./traced work 2>trace 7<&- &
upgrader=$!
read -r first rest <&7
kill -KILL "$first"
wait "$upgrader"
upgrader=
wait "$reader"
# Checks the subshell's trace. The agent has ended, so no other shell writes to the trace any more.
grep -q '^+ exec sh -c' log || complain 'left no subshell that waits'
grep -q '^+ kill' log && complain 'left a subshell that signals a pid which may be a stranger'
exit 0
