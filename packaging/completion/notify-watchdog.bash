# Completes the command line of notify-watchdog in bash: options and their values, PROGRAM and its
# arguments.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

_notify_watchdog_options='--device= --timeout= --start-timeout= --stop-timeout= --help --version'

# Prints the values of the option $1 that begin with $2, one a line.
_notify_watchdog_values() {
  case $1 in
    --device) compgen -f -- "$2" ;;
    --timeout | --start-timeout | --stop-timeout) _upgrader_durations "$2" ;;
  esac
}

_notify_watchdog() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= at=1
  COMPREPLY=()
  while ((at < COMP_CWORD)); do
    if [[ ${COMP_WORDS[at]} == -- ]]; then
      ((at + 1 < COMP_CWORD)) && _upgrader_offer_arguments $((at + 1)) || _upgrader_offer_programs
      return
    elif [[ ${COMP_WORDS[at]} != -?* ]]; then
      _upgrader_offer_arguments "$at"
      return
    fi
    _upgrader_skip_option
  done
  _upgrader_find_value
  if [[ $option ]]; then
    [[ $option == --device ]] && compopt -o filenames
    _upgrader_offer_values _notify_watchdog_values
  elif [[ $current == -* ]]; then
    _upgrader_offer_options "$_notify_watchdog_options"
  else
    _upgrader_offer_programs
  fi
}

complete -F _notify_watchdog notify-watchdog
