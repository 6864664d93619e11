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
  '--describe[describe the checks, and start no agent]' \
  '*--only=[run only this check]:check:_agent_conformance_check' \
  '*--skip=[leave out this check]:check:_agent_conformance_check' \
  '(--json)--tap[print the report as TAP]' \
  '(--tap)--json[print the report or the description as one JSON object]' \
  '--junit=[also write the report into a file as JUnit XML]:file:_files' \
  '--start-timeout=[longest time until AGENT says hello and ready]:duration:_upgrader_durations' \
  '--stop-timeout=[longest time from stop to stopped]:duration:_upgrader_durations' \
  '--exit-grace=[longest time for a required exit]:duration:_upgrader_durations' \
  '--watch=[time to watch AGENT when nothing should happen]:duration:_upgrader_durations' \
  '(- *)--help[print the help and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:agent:_command_names -e' \
  '*::argument:_normal'
