# Runs the programs and commands that the pages show: the shell agent, the transcripts, the log in
# README.md, the examples in C and C++, and the script that stops an agent under busybox init.

living_checks='shell_agent played_transcripts shown_log busybox_stop'

# The time limit in seconds for each of these runs, much longer than any run takes. The runs wait
# for events, so only a run that hangs reaches the limit.
living_limit=60

# Prints a literal block of the manual page $1 as it looks on the rendered page: the block between
# the comments `BEGIN $2` and `END $2`.
extract() {
  sed -n "/^\\.\\\\\" BEGIN $2\$/,/^\\.\\\\\" END/p" "$1" |
    sed "/^\\./d; s/\\\\(aq/'/g; s/\\\\-/-/g; s/\\\\&//g; s/\\\\e/\\\\/g"
}

# usage: live PLAY COMMAND...
# The command prints an example from a page. Passes this example to the test PLAY of play.sh, runs
# the test in an empty directory, and prints the errors that the test finds.
live() {
  play=$1
  shift
  rm -rf "$scratch/live"
  mkdir "$scratch/live"
  "$@" >"$scratch/live/input"
  timeout "$living_limit" sh "$root/tests/judging/tidy/play.sh" "$play" "$scratch/live" || {
    echo "play.sh $play ended with status $?; the log:"
    cat "$scratch/live/log" 2>/dev/null
  }
}

check_shell_agent() {
  upgrader_is_built || return
  live shell_agent extract man/agent-protocol.7 'shell agent'
}

canary_shell_agent() {
  sed -i '/BEGIN shell agent/,/END shell agent/s/"stopped"/"stoped"/' man/agent-protocol.7
  echo 'play.sh shell_agent ended with status 1'
}

check_played_transcripts() {
  upgrader_is_built || return
  live transcripts transcript_lines
}

canary_played_transcripts() {
  sed -i 's/^2< {"type":"activate","state":"line 4711","clean":true,/2< {"type":"activate",/' \
    man/agent-protocol.7
  trial='"trial_ms":N,"commit":"survive"}'
  echo "as shown: 2< {\"type\":\"activate\",$trial"
  echo "as heard: 2< {\"type\":\"activate\",\"state\":\"line 4711\",\"clean\":true,$trial"
}

check_busybox_stop() {
  upgrader_is_built || return
  live busybox_stop sed \
    's|/var/lib/sample-agent/lock|lock|; /^while/s/do .*;/do :;/' sample-agent/init/busybox/stop
}

canary_busybox_stop() {
  sed -i 's/^runs || exit 0$//' sample-agent/init/busybox/stop
  echo 'busybox/stop signalled a stranger'
}

# Prints the lines of the log in README.md, with wrapped lines joined.
shown_log_lines() {
  sed -n '/^<!-- BEGIN log/,/^<!-- END log/p' README.md |
    awk '/^  / { line = line substr($0, 2); next }
      line { print line }
      { line = /^upgrader: / ? $0 : "" }'
}

check_shown_log() {
  upgrader_is_built || return
  live log shown_log_lines
}

canary_shown_log() {
  sed -i '/BEGIN log/,/END log/s/exited with status 3/exited with status 4/' README.md
  echo 'as shown: upgrader: warning: generation 2: exited with status 4 before it was ready'
}

# Prints the code between ``` lines of the language $2 in the page $1.
fenced() {
  awk -v opening="\`\`\`$2" '$0 == "```" { inside = 0 } inside; $0 == opening { inside = 1 }' "$1"
}

# usage: compiles NAME LANGUAGE COMPILER...
# Compiles standard input.
compiles() {
  name=$1
  language=$2
  shift 2
  cat >"$scratch/example"
  [ -s "$scratch/example" ] || echo "$name: no example found"
  mkdir -p "$scratch/include"
  ln -sfn "$PWD/agent-protocol" "$scratch/include/agent-protocol"
  ln -sfn "$PWD/tools/agent-releases/include/agent-releases" "$scratch/include/agent-releases"
  "$@" -x "$language" -Wall -Wextra -Wpedantic -I "$scratch/include" -fsyntax-only \
    "$scratch/example" 2>&1 | sed "s|^|$name: |"
}

# Checks that the examples are whole programs that compile without a warning, as C and as C++.
check_examples() {
  page=man/agent_protocol.3
  extract $page 'C example' | compiles "$page, C" c "${CC:-cc}" -std=c11
  extract $page 'C++ example' | compiles "$page, C++" c++ "${CXX:-c++}" -std=c++20
  page=man/libagent-releases.3
  extract $page example | compiles "$page, C++" c++ "${CXX:-c++}" -std=c++20
  page=docs/agents.md
  fenced $page c | compiles "$page, C" c "${CC:-cc}" -std=c11
  fenced $page cpp | compiles "$page, C++" c++ "${CXX:-c++}" -std=c++20
}

canary_examples() {
  sed -i 's/agent_protocol_ready/agent_protocol_planted/; s/ready()/planted()/' \
    man/agent_protocol.3 docs/agents.md
  sed -i 's/Releases::open/Releases::planted/' man/libagent-releases.3
  echo 'man/libagent-releases.3, C++: '
  echo 'man/agent_protocol.3, C: '
  echo 'man/agent_protocol.3, C++: '
  echo 'docs/agents.md, C: '
  echo 'docs/agents.md, C++: '
}
