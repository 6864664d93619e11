#compdef agent-conformance
# Completes the command line of agent-conformance in zsh: options, their values, the names of the
# checks, AGENT and its arguments.

# Completes the names of the checks, which it gets from the program itself.
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
  '--start-timeout=[until it is ready]:duration:_upgrader_durations' \
  '--stop-timeout=[from stop to stopped]:duration:_upgrader_durations' \
  '--exit-grace=[until it has exited]:duration:_upgrader_durations' \
  '--watch=[where nothing is to happen]:duration:_upgrader_durations' \
  '(- *)--help[print the options and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:agent:_command_names -e' \
  '*::argument:_normal'
