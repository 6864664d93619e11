#!/bin/sh
# Runs under the real upgrader the examples that the pages show: the shell agent and the transcripts
# of agent-protocol(7), the log in README.md, and the script that stops an agent under busybox init.
# Prints each difference from the page. Waits for events without a time limit of its own: the caller
# sets the time limit.
#
# usage: play.sh shell_agent | transcripts | log | busybox_stop    DIRECTORY
# DIRECTORY/input has the example as the page shows it. The variable UPGRADER names the upgrader.
set -u
cd "$2" || exit 1

upgrader=
stranger=
trap '[ -z "$upgrader" ] || kill -QUIT "$upgrader" 2>/dev/null
  [ -z "$stranger" ] || kill -KILL "$stranger" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

# usage: complain WORD...
# Prints an error of the example that is being run, and exits with 1.
complain() {
  echo "$played $*"
  exit 1
}

# Runs the shell agent of agent-protocol(7): the agent starts, is upgraded to itself on SIGUSR2, and
# exits on SIGTERM. In a second run the agent is killed.
play_shell_agent() {
  played='the shell agent'
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
  # Waits for the commit, since the new agent may begin to work before the upgrader has logged the
  # commit.
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

  # Kills the agent. Its subshell then stays behind, and reaches the end of its input. By then, the
  # agent's pid may belong to an unrelated process, so the subshell must signal no process. Traces
  # of the shells show whether it does.
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
  # Checks the subshell's trace. The agent has ended, so no other shell writes to the trace any
  # more.
  grep -q '^+ exec sh -c' log || complain 'left no subshell that waits'
  grep -q '^+ kill' log && complain 'left a subshell that signals a pid which may be a stranger'
}

# Plays the transcripts of agent-protocol(7): under the real upgrader, agents send the messages that
# the page says agents send, and must receive the messages that the page says they receive. The
# messages must be equal byte for byte, except for deadlines and the time of a trial, which is short
# here.
play_transcripts() {
  here=$(pwd -P)

  # The script of every agent in a transcript. The file `started` has the number of agents that have
  # been started, so an agent learns its generation from it. The agent sends and expects the lines
  # of that generation.
  cat >actor <<'ACTOR'
#!/bin/sh
exec 8<&0 9>&1 </dev/null >&2
unset AGENT_PROTOCOL
cd "${0%/*}" || exit 1
me=$(($(cat started) + 1))
echo $me >started
while IFS= read -r line <&5; do
  case $line in
    "$me> "*) printf '%s\n' "${line#*> }" >&9 ;;
    "$me< "*) IFS= read -r heard <&8 && printf '%s\n' "$me< $heard" >>"heard.$me" || exit 1 ;;
    *"(generation $me dies by SIGSEGV)") ulimit -c 0; kill -SEGV $$ ;;
    *"(generation $me exits and is reaped)") exit 0 ;;
  esac
done 5<play
echo "$me has played" >stage
IFS= read -r line <&8
echo '{"type":"stopped"}' >&9
ACTOR
  chmod +x actor

  sed "s|/opt/agent/|$here/|" input >play
  grep -o '"version":"[0-9.]*"' play | grep -o '[0-9.]*' | sort -u | while IFS= read -r version; do
    cp actor "$version"
  done
  last=$(sed -nE 's/^([0-9]+)[<>] .*/\1/p' play | sort -n | tail -n 1)
  echo 0 >started
  mkfifo stage
  exec 7<>stage

  "$UPGRADER" --trial=2s --start-timeout=20s -- "$here/1.0" 2>log 7<&- &
  upgrader=$!
  while read -r who rest <&7 && [ "$who" != "$last" ]; do :; done
  kill -TERM "$upgrader"
  wait "$upgrader" || { echo "the upgrader exited with status $?"; exit 1; }
  upgrader=

  normal() { sed -E 's/"(deadline|trial)_ms":[0-9]*/"\1_ms":N/'; }
  for me in $(seq "$last"); do
    grep "^$me< " play | normal >shown
    normal <"heard.$me" >heard
    diff shown heard | sed -n 's/^< /as shown: /p; s/^> /as heard: /p'
  done
}

# Makes the run whose log README.md shows: version 1.0 of an agent is upgraded by SIGUSR2 to 1.1,
# which ends at its start, and to 1.2, which dies on trial. Prints the differences from the real
# log.
play_log() {
  mkdir releases
  cat >releases/1.0 <<'AGENT'
#!/bin/sh
exec 8<&0 9>&1 </dev/null >&2
unset AGENT_PROTOCOL
version=${0##*/}
[ "$version" != 1.1 ] || exit 3
printf '{"type":"hello","protocol":1,"version":"%s"}\n{"type":"ready"}\n' "$version" >&9
while IFS= read -r line <&8; do
  case $line in
    *'"activate"'*) [ "$version" != 1.2 ] || { ulimit -c 0; kill -SEGV $$; } ;;
    *'"stop"'*) echo '{"type":"stopped"}' >&9; exit 0 ;;
  esac
done
AGENT
  chmod +x releases/1.0
  cp releases/1.0 releases/1.1
  cp releases/1.0 releases/1.2
  ln -s 1.0 releases/current

  mkfifo log.pipe
  "$UPGRADER" releases/current 2>log.pipe &
  upgrader=$!
  exec 7<log.pipe
  : >log
  # Waits until the upgrader has logged a line that contains this text. The caller sets the time
  # limit.
  until_told() {
    while IFS= read -r line <&7; do
      printf '%s\n' "$line" >>log
      case $line in *"$1"*) return 0 ;; esac
    done
    echo "the log ends before: $1"
    exit 1
  }

  until_told '1.0) is active'
  ln -sfn 1.1 releases/current
  kill -USR2 "$upgrader"
  until_told 'stays active'
  ln -sfn 1.2 releases/current
  kill -USR2 "$upgrader"
  until_told 'generation 4 (version 1.0) is active'

  normal() { sed -E 's/process [0-9]+/process N/; s|/[^ ]*/releases/|/releases/|'; }
  normal <input >shown
  normal <log >logged
  diff shown logged | sed -n 's/^< /as shown: /p; s/^> /as logged: /p'
  kill -TERM "$upgrader"
  while IFS= read -r line <&7; do :; done
  wait "$upgrader" || { echo "the upgrader exited with status $?"; exit 1; }
  upgrader=
}

# Tests the script that stops the sample agent under busybox init. The script must signal the
# upgrader that the lock's file names, and wait for its end. It must never signal another process
# that has got the pid of a dead upgrader. DIRECTORY/input is a copy of the script that uses the
# lock's file `lock` in the working directory, and does not sleep in the loops that wait.
play_busybox_stop() {
  played=busybox/stop
  mkfifo over errors || exit 1
  exec 3<>over 4<>errors

  stop() {
    sh ./input || complain "ended with status $? $1"
  }

  stop 'without a file'
  : >lock
  stop 'when the file is empty'

  sh -c 'trap "echo >told; exit" TERM; echo >&4; read -r line <&3' &
  stranger=$!
  read -r line <&4
  read -r line <"/proc/$stranger/stat"
  started=$(echo "${line##*) }" | cut -d ' ' -f 20)
  echo "$stranger $((started - 1))" >lock
  stop 'when the file is stale'
  echo >&3
  wait "$stranger"
  [ ! -e told ] || complain 'signalled a stranger'
  stop 'when its process is gone'

  # Starts a process that imitates an upgrader which is about to start its first agent: the process
  # has the lock, but has not yet written its pid into the lock's file.
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

  # Starts an upgrader whose agent, /bin/cat, is not active yet. When the script signals the
  # upgrader, the upgrader must end this agent, and exit with 0.
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
}

"play_$1"
exit 0
