# Completion of agent-conformance's command line in bash: options, their values, the names of the
# checks, AGENT and its arguments.

_agent_conformance_options='--describe --only= --skip= --tap --json --junit= --start-timeout=
  --stop-timeout= --exit-grace= --watch= --help --version'

# The names of the checks, as the program itself tells them.
_agent_conformance_checks() {
  agent-conformance --describe 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\).*/\1/p'
}

# What may follow a duration that has been begun; the words of one that has not.
_agent_conformance_durations() {
  local number=${1%%[!0-9]*}
  if [[ $number ]]; then
    compgen -W "${number}ms ${number}s ${number}m ${number}h" -- "$1"
  else
    compgen -W '500ms 10s 30s 90s 5m 1h' -- "$1"
  fi
}

# The values of the option $1 that begin with $2, one a line.
_agent_conformance_values() {
  case $1 in
    --only | --skip) compgen -W "$(_agent_conformance_checks)" -- "$2" ;;
    --junit) compgen -f -- "$2" ;;
    --start-timeout | --stop-timeout | --exit-grace | --watch) _agent_conformance_durations "$2" ;;
  esac
}

_agent_conformance() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= at=1
  COMPREPLY=()
  while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == -?* && ${COMP_WORDS[at]} != -- ]]; do
    ((at += 1))
    while [[ ${COMP_WORDS[at]} == [=:]* && at -lt COMP_CWORD ]]; do ((at += 2)); done
  done
  if ((at < COMP_CWORD)); then
    [[ ${COMP_WORDS[at]} == -- ]] && ((at += 1))
    if ((at < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
      _command_offset "$at"
      return
    fi
    mapfile -t COMPREPLY < <({ compgen -c -- "$current"; compgen -f -- "$current"; } | sort -u)
    compopt -o filenames
    return
  fi
  if [[ $current == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} current=
  elif [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $current == --*=* ]]; then  # where COMP_WORDBREAKS has no `=`
    option=${current%%=*} kept=${current%%=*}= current=${current#*=}
  fi
  if [[ $option ]]; then
    [[ $option == --junit ]] && compopt -o filenames
    mapfile -t COMPREPLY < <(_agent_conformance_values "$option" "$current")
    COMPREPLY=("${COMPREPLY[@]/#/$kept}")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_agent_conformance_options" -- "$current")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  else
    mapfile -t COMPREPLY < <({ compgen -c -- "$current"; compgen -f -- "$current"; } | sort -u)
    compopt -o filenames
  fi
}

complete -F _agent_conformance agent-conformance
