# Completion of agentify's command line in bash: options and their values. What stands before a `--`
# is agentify's own, as it is written behind upgrader's --adapter=.

_agentify_options='--check= --check-timeout= --ready= --vouch= --health= --health-interval=
  --health-failures= --health-action= --stop= --version --version= --version-command= --help'

# What may follow a duration that has been begun; the words of one that has not.
_agentify_durations() {
  local number=${1%%[!0-9]*}
  if [[ $number ]]; then
    compgen -W "${number}ms ${number}s ${number}m ${number}h" -- "$1"
  else
    compgen -W '500ms 10s 30s 90s 5m 1h' -- "$1"
  fi
}

# The values of the option $1 that begin with $2, one a line.
_agentify_values() {
  case $1 in
    --check-timeout | --health-interval) _agentify_durations "$2" ;;
    --ready)
      compgen -W 'started notify fd: tcp: unix: http:// exec: file: after:' -- "$2"
      ;;
    --health) compgen -W 'tcp: unix: http:// exec: file:' -- "$2" ;;
    --vouch) compgen -W 'yes no' -- "$2" ;;
    --health-action) compgen -W 'silence exit' -- "$2" ;;
    --health-failures) compgen -W '1 3 10' -- "$2" ;;
    --stop) compgen -W 'TERM INT QUIT HUP USR1 USR2 KILL' -- "$2" ;;
  esac
}

_agentify() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at += 1)); do
    [[ ${COMP_WORDS[at]} == -- ]] || continue
    if declare -F _command_offset >/dev/null; then
      _command_offset $((at + 1))
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames
    fi
    return
  done
  if [[ $current == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} current=
  elif [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $current == --*=* ]]; then  # where COMP_WORDBREAKS has no `=`
    option=${current%%=*} kept=${current%%=*}= current=${current#*=}
  fi
  if [[ $option ]]; then
    mapfile -t COMPREPLY < <(_agentify_values "$option" "$current")
    COMPREPLY=("${COMPREPLY[@]/#/$kept}")
  else
    mapfile -t COMPREPLY < <(compgen -W "$_agentify_options" -- "$current")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  fi
}

complete -F _agentify agentify
