# Functions that the upgrader's bash completions share. Each completion sources this file, which is
# in the same directory. They need only bash; if bash-completion is loaded, they use it to complete
# the arguments of AGENT and of other commands.

# Prints the completions of a duration: if $1 begins with a number, that number with each unit,
# otherwise some common durations.
_upgrader_durations() {
  local number=${1%%[!0-9]*}
  if [[ $number ]]; then
    compgen -W "${number}ms ${number}s ${number}m ${number}h" -- "$1"
  else
    compgen -W '500ms 10s 30s 90s 5m 1h' -- "$1"
  fi
}

# Prints the names of commands and files that begin with $1.
_upgrader_programs() {
  { compgen -c -- "$1"; compgen -f -- "$1"; } | sort -u
}

# Moves the index `at` from an option to the first word after the option and its value. An option
# and its value may be several words, since readline splits words at `=` and `:`.
_upgrader_skip_option() {
  ((at += 1))
  while [[ ${COMP_WORDS[at]} == [=:]* ]] && ((at < COMP_CWORD)); do ((at += 2)); done
}

# If the cursor is in the value of an option, sets `option` to the option's name and `current` to
# the beginning of the value. If readline does not split words at `=`, sets `kept` to `--NAME=`,
# which each completion must then begin with.
_upgrader_find_value() {
  if [[ $current == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} current=
  elif [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $current == --*=* ]]; then  # readline does not split words at `=`
    option=${current%%=*} kept=${current%%=*}= current=${current#*=}
  fi
}

# Completes the value of an option. $1 is a function that gets the option's name and the beginning
# of the value, and prints the possible values, one in each line.
_upgrader_offer_values() {
  mapfile -t COMPREPLY < <("$1" "$option" "$current")
  COMPREPLY=("${COMPREPLY[@]/#/$kept}")
}

# Offers the options in $1 as completions. No space follows an option that takes a value.
_upgrader_offer_options() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

_upgrader_offer_programs() {
  mapfile -t COMPREPLY < <(_upgrader_programs "$current")
  compopt -o filenames
}

# Completes the arguments of the command whose name is the word at the index $1.
_upgrader_offer_arguments() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames
  fi
}

# Sets `program` to the index of the word PROGRAM in the command line of a runner (see
# _upgrader_complete_runner below): a word before the cursor, or the word at the cursor. Makes
# `program` empty if the word at the cursor may be an option.
_upgrader_find_program() {
  local at=1
  program=
  while ((at < COMP_CWORD)); do
    case ${COMP_WORDS[at]} in
      --)
        program=$((at + 1))
        return
        ;;
      -?*)
        _upgrader_skip_option
        ;;
      *)
        program=$at
        return
        ;;
    esac
  done
}

# Completes the command line of a runner, that is, a command `NAME [options] PROGRAM [ARG ...]`. $1
# has the options, and $2 is a function for _upgrader_offer_values. $3 has the names of the options
# whose values are files, separated by `|`.
_upgrader_complete_runner() {
  local current=${COMP_WORDS[COMP_CWORD]} option='' kept='' program
  COMPREPLY=()
  _upgrader_find_program
  if [[ $program ]] && ((program < COMP_CWORD)); then
    _upgrader_offer_arguments "$program"
    return
  fi
  if [[ -z $program ]]; then
    _upgrader_find_value
  fi
  if [[ $option ]]; then
    [[ $option == --@($3) ]] && compopt -o filenames
    _upgrader_offer_values "$2"
  elif [[ -z $program && $current == -* ]]; then
    _upgrader_offer_options "$1"
  else
    _upgrader_offer_programs
  fi
}
