# Completion of upgrader's command line in bash: options, their values, AGENT and its arguments.
# Needs nothing but bash; where bash-completion is loaded, it completes the arguments of AGENT.

# What may follow a duration that has been begun; the words of one that has not.
_upgrader_durations() {
  local number=${1%%[!0-9]*}
  if [[ $number ]]; then
    compgen -W "${number}ms ${number}s ${number}m ${number}h" -- "$1"
  else
    compgen -W '500ms 10s 30s 90s 5m 1h' -- "$1"
  fi
}

# The values of the option $1 that begin with $2, one a line.
_upgrader_values() {
  case $1 in
    --mode) compgen -W 'parallel sequential' -- "$2" ;;
    --on-unclean-stop) compgen -W 'fallback continue' -- "$2" ;;
    --gate) compgen -W 'none confirm' -- "$2" ;;
    --commit) compgen -W 'survive healthy' -- "$2" ;;
    --log-level) compgen -W 'error warning info debug' -- "$2" ;;
    --start-timeout | --exit-grace | --trial | --confirm-timeout | --lock-timeout)
      compgen -W '0' -- "$2"
      _upgrader_durations "$2"
      ;;
    --stop-timeout) _upgrader_durations "$2" ;;
    --lock) compgen -f -- "$2" ;;
    --control) compgen -d -- "$2" ;;
    --adapter) { compgen -c -- "$2"; compgen -f -- "$2"; } | sort -u ;;
    --previous) compgen -f -- "$2" ;;
    --attempts) compgen -W '0 3' -- "$2" ;;
    --notify-fd) compgen -W '3 4 5' -- "$2" ;;
  esac
}

_upgrader_options='--mode= --start-timeout= --stop-timeout= --exit-grace= --trial=
  --on-unclean-stop= --gate= --confirm-timeout= --commit= --relink --previous= --attempts=
  --lock= --lock-timeout= --control= --notify-fd= --subreaper --adapter= --log-level=
  --help --version'

# Sets `agent` to the place of AGENT among the words before the cursor, or to that of the cursor
# where AGENT comes next, or to nothing while options may come. readline cuts words at `=` and `:`.
_upgrader_find_agent() {
  local at=1
  agent=
  while ((at < COMP_CWORD)); do
    case ${COMP_WORDS[at]} in
      --)
        agent=$((at + 1))
        return
        ;;
      -?*)
        ((at += 1))
        while [[ ${COMP_WORDS[at]} == [=:]* && at -lt COMP_CWORD ]]; do ((at += 2)); done
        ;;
      *)
        agent=$at
        return
        ;;
    esac
  done
}

_upgrader() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= agent
  COMPREPLY=()
  _upgrader_find_agent
  if [[ $agent ]] && ((agent < COMP_CWORD)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$agent"
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames
    fi
    return
  fi
  if [[ -z $agent ]]; then
    if [[ $current == = ]]; then
      option=${COMP_WORDS[COMP_CWORD - 1]} current=
    elif [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
      option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current == --*=* ]]; then  # where COMP_WORDBREAKS has no `=`
      option=${current%%=*} kept=${current%%=*}= current=${current#*=}
    fi
  fi
  if [[ $option ]]; then
    [[ $option == --@(lock|previous|control|adapter) ]] && compopt -o filenames
    mapfile -t COMPREPLY < <(_upgrader_values "$option" "$current")
    COMPREPLY=("${COMPREPLY[@]/#/$kept}")
  elif [[ -z $agent && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_upgrader_options" -- "$current")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  else
    mapfile -t COMPREPLY < <({ compgen -c -- "$current"; compgen -f -- "$current"; } | sort -u)
    compopt -o filenames
  fi
}

complete -F _upgrader upgrader
