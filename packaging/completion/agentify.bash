# Completion of agentify's command line in bash: options and their values. What stands before a `--`
# is agentify's own, as it is written behind upgrader's --adapter=.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

_agentify_options='--check= --check-timeout= --ready= --settle= --vouch= --health=
  --health-interval= --health-failures= --health-action= --stop= --version --version=
  --version-command= --follow= --follow-keys= --help'

# The values of the option $1 that begin with $2, one a line.
_agentify_values() {
  case $1 in
    --check-timeout | --settle | --health-interval) _upgrader_durations "$2" ;;
    --ready)
      compgen -W 'started notify fd: tcp: unix: http:// exec: file: after:' -- "$2"
      ;;
    --health) compgen -W 'tcp: unix: http:// exec: file:' -- "$2" ;;
    --vouch) compgen -W 'yes no' -- "$2" ;;
    --health-action) compgen -W 'silence exit' -- "$2" ;;
    --health-failures) compgen -W '1 3 10' -- "$2" ;;
    --follow | --follow-keys) compgen -d -- "$2" ;;
    --stop) compgen -W 'TERM INT QUIT HUP USR1 USR2 KILL' -- "$2" ;;
  esac
}

_agentify() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at += 1)); do
    [[ ${COMP_WORDS[at]} == -- ]] || continue
    _upgrader_offer_arguments $((at + 1))
    return
  done
  _upgrader_find_value
  if [[ $option ]]; then
    [[ $option == --follow* ]] && compopt -o filenames
    _upgrader_offer_values _agentify_values
  else
    _upgrader_offer_options "$_agentify_options"
  fi
}

complete -F _agentify agentify
