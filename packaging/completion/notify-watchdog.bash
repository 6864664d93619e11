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
  _upgrader_complete_runner "$_notify_watchdog_options" _notify_watchdog_values device
}

complete -F _notify_watchdog notify-watchdog
