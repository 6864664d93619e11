#!/bin/sh
# Plays the transcripts of agent-protocol(7): agents send under the real upgrader what the page says
# that they send, and must receive what the page says that they receive, byte for byte except for
# deadlines and the time of a trial, which is short here.
#
# usage: play_transcripts.sh DIRECTORY
# DIRECTORY/input has the transcripts. The variable UPGRADER names the upgrader.
set -u
cd "$1" || exit 1
here=$(pwd -P)

upgrader=
trap '[ -z "$upgrader" ] || kill -QUIT "$upgrader" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

# An agent that plays its part of the transcript. It finds out its generation by counting, and
# plays the lines of that generation.
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
exit 0
