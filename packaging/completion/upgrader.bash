# Completes the command line of upgrader in bash: options, their values, AGENT and its arguments.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

# Prints the values of the option $1 that begin with $2, one a line.
_upgrader_values() {
  case $1 in
    --mode) compgen -W 'parallel sequential' -- "$2" ;;
    --on-unclean-stop) compgen -W 'fallback continue' -- "$2" ;;
    --fallback) compgen -W 'cold warm' -- "$2" ;;
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
    --adapter) _upgrader_programs "$2" ;;
    --previous) compgen -f -- "$2" ;;
    --attempts) compgen -W '0 3' -- "$2" ;;
    --notify-fd) compgen -W '3 4 5' -- "$2" ;;
  esac
}

_upgrader_options='--mode= --start-timeout= --stop-timeout= --exit-grace= --trial=
  --on-unclean-stop= --fallback= --gate= --confirm-timeout= --commit= --relink --previous=
  --attempts= --lock= --lock-timeout= --control= --notify-fd= --subreaper --adapter= --log-level=
  --help --version'

_upgrader() {
  _upgrader_complete_runner "$_upgrader_options" _upgrader_values 'lock|previous|control|adapter'
}

complete -F _upgrader upgrader
