# Completes the command line of agentify in bash: commands, options and their values. The words
# before a `--` are agentify's own, or those of its command.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

_agentify_options='--check= --check-timeout= --ready= --settle= --vouch= --health=
  --health-interval= --health-failures= --health-action= --ca-file= --stop= --version --version=
  --version-command= --last-words --last-words= --follow= --follow-keys= --help'
_agentify_run_options='--name= --releases= --upgrader= --print'
_agentify_unit_options='--init= --user= --replaces= --prepare= --name= --releases= --upgrader='

# Prints the values of the option $1 that begin with $2, one a line.
_agentify_values() {
  case $1 in
    --check-timeout | --settle | --health-interval) _upgrader_durations "$2" ;;
    --ready)
      compgen -W 'started notify fd: tcp: unix: http:// https:// exec: file: after:' -- "$2"
      ;;
    --health) compgen -W 'tcp: unix: http:// https:// exec: file:' -- "$2" ;;
    --vouch) compgen -W 'yes no' -- "$2" ;;
    --health-action) compgen -W 'silence exit' -- "$2" ;;
    --ca-file | --last-words) { compgen -W none -- "$2"; compgen -f -- "$2"; } ;;
    --health-failures) compgen -W '1 3 10' -- "$2" ;;
    --init)
      compgen -W 'systemd openrc runit s6 busybox sysvinit finit procd dinit' -- "$2"
      ;;
    --user) compgen -u -- "$2" ;;
    --follow | --follow-keys | --releases) compgen -d -- "$2" ;;
    --stop) compgen -W 'TERM INT QUIT HUP USR1 USR2 KILL' -- "$2" ;;
  esac
}

_agentify() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= at options=$_agentify_options
  COMPREPLY=()
  if [[ $COMP_CWORD == 1 && $current != -* ]]; then
    _upgrader_offer_programs
    COMPREPLY+=($(compgen -W 'run unit doctor' -- "$current"))
    return
  fi
  case ${COMP_WORDS[1]} in
    run) options+=" $_agentify_run_options" ;;
    unit) options+=" $_agentify_unit_options" ;;
    doctor) options='--name= --help' ;;
  esac
  for ((at = 1; at < COMP_CWORD; at += 1)); do
    [[ ${COMP_WORDS[at]} == -- ]] || continue
    _upgrader_offer_arguments $((at + 1))
    return
  done
  _upgrader_find_value
  if [[ $option ]]; then
    [[ $option == --@(follow|follow-keys|releases|ca-file|last-words) ]] && compopt -o filenames
    _upgrader_offer_values _agentify_values
  elif [[ $current != -* && ${COMP_WORDS[1]} == @(run|unit|doctor) ]]; then
    _upgrader_offer_programs
  else
    _upgrader_offer_options "$options"
  fi
}

complete -F _agentify agentify
