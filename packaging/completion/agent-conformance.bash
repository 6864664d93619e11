# Completes the command line of agent-conformance in bash: options, their values, the names of the
# checks, AGENT and its arguments.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

_agent_conformance_options='--describe --only= --skip= --tap --json --junit= --start-timeout=
  --stop-timeout= --exit-grace= --watch= --help --version'

# Prints the names of the checks, which it gets from the program itself.
_agent_conformance_checks() {
  agent-conformance --describe 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\).*/\1/p'
}

# Prints the values of the option $1 that begin with $2, one a line.
_agent_conformance_values() {
  case $1 in
    --only | --skip) compgen -W "$(_agent_conformance_checks)" -- "$2" ;;
    --junit) compgen -f -- "$2" ;;
    --start-timeout | --stop-timeout | --exit-grace | --watch) _upgrader_durations "$2" ;;
  esac
}

_agent_conformance() {
  _upgrader_complete_runner "$_agent_conformance_options" _agent_conformance_values junit
}

complete -F _agent_conformance agent-conformance
