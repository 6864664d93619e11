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
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= at=1
  COMPREPLY=()
  while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == -?* && ${COMP_WORDS[at]} != -- ]]; do
    _upgrader_skip_option
  done
  if ((at < COMP_CWORD)); then
    [[ ${COMP_WORDS[at]} == -- ]] && ((at += 1))
    if ((at < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
      _command_offset "$at"
      return
    fi
    _upgrader_offer_programs
    return
  fi
  _upgrader_find_value
  if [[ $option ]]; then
    [[ $option == --junit ]] && compopt -o filenames
    _upgrader_offer_values _agent_conformance_values
  elif [[ $current == -* ]]; then
    _upgrader_offer_options "$_agent_conformance_options"
  else
    _upgrader_offer_programs
  fi
}

complete -F _agent_conformance agent-conformance
