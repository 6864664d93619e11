#compdef agent-conformance
# Completion of agent-conformance's command line in zsh: options, their values, the names of the
# checks, AGENT and its arguments.

# Durations: units for a number that has been begun, otherwise a few of them.
_agent_conformance_duration() {
  local number=${PREFIX%%[^0-9]*} expl
  if [[ -n $number ]]; then
    _wanted durations expl duration compadd -- ${number}{ms,s,m,h}
  else
    _wanted durations expl duration compadd -- 500ms 10s 30s 90s 5m 1h
  fi
}

# The names of the checks, as the program itself tells them.
_agent_conformance_check() {
  local expl
  local -a checks=(${(f)"$(agent-conformance --describe 2>/dev/null |
    sed -n 's/^\([a-z][a-z-]*\).*/\1/p')"})
  _wanted checks expl check compadd -a checks
}

_arguments -S \
  '--describe[say what is checked, and start nothing]' \
  '*--only=[make this check]:check:_agent_conformance_check' \
  '*--skip=[leave this check out]:check:_agent_conformance_check' \
  '(--json)--tap[report as TAP]' \
  '(--tap)--json[report as one JSON object]' \
  '--junit=[write a report for readers of JUnit, too]:file:_files' \
  '--start-timeout=[until it is ready]:duration:_agent_conformance_duration' \
  '--stop-timeout=[from stop to stopped]:duration:_agent_conformance_duration' \
  '--exit-grace=[until it has exited]:duration:_agent_conformance_duration' \
  '--watch=[where nothing is to happen]:duration:_agent_conformance_duration' \
  '(- *)--help[print the options and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:agent:_command_names -e' \
  '*::argument:_normal'
