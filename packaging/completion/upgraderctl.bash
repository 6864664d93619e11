# Completes the command line of upgraderctl in bash: the names of upgraders, commands, options and
# their values, EXECUTABLE and its arguments.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

_upgraderctl_commands='list status upgrade rehearse confirm cancel commit rollback history why
  wait on shutdown'

# Prints the names that begin with $1, of upgraders of the machine and of the calling user.
_upgraderctl_names() {
  local directory base own=${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/upgrader}
  base=${UPGRADERCTL_BASE:-/run/upgrader}
  [[ $UPGRADERCTL_BASE || ! $own ]] && own=$base
  for directory in "$base"/*/ "$own"/*/; do
    [[ -d $directory ]] || continue
    directory=${directory%/}
    compgen -W "${directory##*/}" -- "$1"
  done
}

# Prints the options of the command $1. If $1 is empty, prints the options that need no command.
_upgraderctl_options() {
  local terms='--start-timeout= --confirm-timeout= --no-args --previous'
  echo '--dir= --help --version'
  case $1 in
    list | history) echo '--json' ;;
    status) echo '--watch --json' ;;
    upgrade)
      echo "$terms --mode= --gate= --commit= --stop-timeout= --trial= --on-unclean-stop=
        --fallback= --id= --no-wait --timeout="
      ;;
    rehearse) echo "$terms --timeout=" ;;
    cancel | rollback) echo '--reason= --timeout=' ;;
    confirm | commit | shutdown) echo '--timeout=' ;;
    wait) echo '--for= --timeout=' ;;
    on) echo '--exec= --after=' ;;
  esac
}

# Prints the values of the option $1 that begin with $2, one a line.
_upgraderctl_values() {
  case $1 in
    --dir) compgen -d -- "$2" ;;
    --mode) compgen -W 'parallel sequential' -- "$2" ;;
    --gate) compgen -W 'none confirm' -- "$2" ;;
    --commit) compgen -W 'survive healthy' -- "$2" ;;
    --on-unclean-stop) compgen -W 'fallback continue' -- "$2" ;;
    --fallback) compgen -W 'cold warm' -- "$2" ;;
    --for)
      compgen -W 'starting running preparing confirming switching replacing trial abandoning
        rolling_back falling_back shutting_down ended' -- "$2"
      ;;
    --start-timeout | --confirm-timeout | --trial | --timeout | --after)
      compgen -W '0' -- "$2"
      _upgrader_durations "$2"
      ;;
    --stop-timeout) _upgrader_durations "$2" ;;
  esac
}

# Sets `name`, `command` and `executable` (the index of EXECUTABLE) from the words before the
# cursor. readline splits words at `=` and `:`.
_upgraderctl_look() {
  local at=1 word
  name='' command='' executable=''
  while ((at < COMP_CWORD)); do
    word=${COMP_WORDS[at]}
    if [[ $word == -?* ]]; then
      _upgrader_skip_option
      continue
    fi
    if [[ $command ]]; then
      executable=$at
      return
    elif [[ " ${_upgraderctl_commands//$'\n'/ } " == *" $word "* ]]; then
      command=$word
    else
      name=$word
    fi
    ((at += 1))
  done
}

# Completes the word at the cursor if it is neither an option nor a value.
_upgraderctl_word() {
  case $command in
    '')
      compgen -W "$_upgraderctl_commands" -- "$1"
      [[ $name ]] || _upgraderctl_names "$1"
      ;;
    upgrade | rehearse) compgen -f -- "$1" ;;
    on) compgen -W 'good commit fallback' -- "$1" ;;
  esac
}

_upgraderctl() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= name command executable
  COMPREPLY=()
  _upgraderctl_look
  if [[ $executable && $command == @(upgrade|rehearse) ]]; then
    _upgrader_offer_arguments "$executable"
    return
  fi
  _upgrader_find_value
  if [[ $option ]]; then
    [[ $option == --dir ]] && compopt -o filenames
    _upgrader_offer_values _upgraderctl_values
  elif [[ $current == -* ]]; then
    _upgrader_offer_options "$(_upgraderctl_options "$command")"
  else
    mapfile -t COMPREPLY < <(_upgraderctl_word "$current")
    [[ $command ]] && compopt -o filenames
  fi
}

complete -F _upgraderctl upgraderctl
