#!/bin/sh
# Makes the run whose log README.md shows: version 1.0 of an agent is upgraded by SIGUSR2 to 1.1,
# which ends at its start, and to 1.2, which dies on trial. Prints the differences to the real log.
#
# usage: play_log.sh DIRECTORY
# DIRECTORY/input has the lines of that log. The variable UPGRADER names the upgrader.
set -u
cd "$1" || exit 1

upgrader=
trap '[ -z "$upgrader" ] || kill -QUIT "$upgrader" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

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
