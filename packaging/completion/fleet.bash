# Completes the command lines of fleetctl, fleet-agent, fleet-controller and fleet-signer in bash,
# from the texts of their --help, which list all options and commands, as `--name FORM  description`
# and `name  description`. Installed under the name of each of the four programs.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

# Prints the help of the program or command that "$@" names, such as `fleetctl rollout`, with each
# entry on one line.
_upgrader_help() {
  "$@" --help 2>/dev/null |
    awk '/^ {20}/ { sub(/^ +/, "  "); line = line $0; next } { print line; line = $0 }
         END { print line }'
}

# Reads a help text on standard input, and prints its options. An option that takes a value is
# printed as `--name=`; if $1 is given, the form of the value follows, as in `--name=FILE`.
_upgrader_help_options() {
  sed -nE "s/^  (-h,)?(--[a-z][a-z-]*) ([A-Z][A-Z|%]*|[a-z]+(\|[a-z]+)+).*/\2=${1:+\\3}/p; t
    s/^  (-h,)?(--[a-z][a-z-]*).*/\2/p"
}

_upgrader_help_commands() {
  sed -nE '1,/^Subcommands:/d; s/^  ([a-z][a-z-]*) .*/\1/p'
}

# Prints the values of the option $1 that begin with $2. The help of the program or command in
# `$path` says whether a value is a file, a directory, a time or one of several words.
_upgrader_help_values() {
  local form
  form=$({ _upgrader_help "${path[@]}"; _upgrader_help "${path[0]}"; } |
    _upgrader_help_options with_form | sed -n "s/^$1=//p" | head -n 1)
  case $form in
    FILE) compgen -f -- "$2" ;;
    DIR) compgen -d -- "$2" ;;
    TIME) _upgrader_durations "$2" ;;
    [a-z]*'|'*) compgen -W "${form//|/ }" -- "$2" ;;
  esac
}

# Completes the command line of a program that has commands, which may have subcommands.
_upgrader_complete_by_help() {
  local current=${COMP_WORDS[COMP_CWORD]} option='' kept='' at path=("$1") commands
  COMPREPLY=()
  commands=$(_upgrader_help "${path[@]}" | _upgrader_help_commands)
  for ((at = 1; at < COMP_CWORD; at += 1)); do
    [[ ${COMP_WORDS[at - 1]} == = || $'\n'$commands$'\n' != *$'\n'${COMP_WORDS[at]}$'\n'* ]] &&
      continue
    path+=("${COMP_WORDS[at]}")
    commands=$(_upgrader_help "${path[@]}" | _upgrader_help_commands)
  done
  _upgrader_find_value
  if [[ $option ]]; then
    _upgrader_offer_values _upgrader_help_values
    compopt -o filenames
  elif [[ $current == -* ]]; then
    _upgrader_offer_options "$({ _upgrader_help "${path[@]}"; _upgrader_help "${path[0]}"; } |
      _upgrader_help_options | sort -u)"
  elif [[ $commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  elif _upgrader_help "${path[@]}" | grep -qE '^  (FILE|MANIFEST) '; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames
  fi
}

complete -F _upgrader_complete_by_help fleetctl fleet-agent fleet-controller fleet-signer
