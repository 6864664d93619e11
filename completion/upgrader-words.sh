# What the completions of these programs in bash share; each sources it from its own directory.
# Needs nothing but bash; where bash-completion is loaded, it completes another command's arguments.

# What may follow a duration that has been begun; the words of one that has not.
_upgrader_durations() {
  local number=${1%%[!0-9]*}
  if [[ $number ]]; then
    compgen -W "${number}ms ${number}s ${number}m ${number}h" -- "$1"
  else
    compgen -W '500ms 10s 30s 90s 5m 1h' -- "$1"
  fi
}

# Commands and files that begin with $1.
_upgrader_programs() {
  { compgen -c -- "$1"; compgen -f -- "$1"; } | sort -u
}

# Skips the option at the place `at`, with its value: readline cuts words at `=` and `:`.
_upgrader_skip_option() {
  ((at += 1))
  while [[ ${COMP_WORDS[at]} == [=:]* && at -lt COMP_CWORD ]]; do ((at += 2)); done
}

# Where the cursor stands in the value of an option: sets `option` to the option's name, `current`
# to the value so far, and `kept` to the part of the word that is to stay before a value.
_upgrader_find_value() {
  if [[ $current == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} current=
  elif [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $current == --*=* ]]; then  # where COMP_WORDBREAKS has no `=`
    option=${current%%=*} kept=${current%%=*}= current=${current#*=}
  fi
}

# Offers the values that `VALUES OPTION WORD` prints; $1 is VALUES.
_upgrader_offer_values() {
  mapfile -t COMPREPLY < <("$1" "$option" "$current")
  COMPREPLY=("${COMPREPLY[@]/#/$kept}")
}

# Offers the options $1; no space follows one that takes a value.
_upgrader_offer_options() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

_upgrader_offer_programs() {
  mapfile -t COMPREPLY < <(_upgrader_programs "$current")
  compopt -o filenames
}

# Completes the arguments of the command at the place $1.
_upgrader_offer_arguments() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames
  fi
}
