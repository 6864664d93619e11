# Completes the command line of agent-releases in bash: options, commands, and the versions in the
# directory.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

_agent_releases_commands='add list show verify desire adopt forget try fail remove prune pack key'
_agent_releases_options='--dir= --keys= --name= --control= --json --help --version'

# Prints the options of the command $1.
_agent_releases_options_of() {
  case $1 in
    add) echo '--sha256= --cacert= --unsigned --older' ;;
    verify) echo '--all' ;;
    desire) echo '--newest' ;;
    adopt) echo '--as=' ;;
    try) echo '--running=' ;;
    fail) echo '--stage= --reason= --errno=' ;;
    prune) echo '--keep= --older=' ;;
    pack)
      echo '--version= --arch= --entry= --min-protocol= --expires= --out= --sign= --check='
      echo '--no-undo --npm --wheels --scripts'
      ;;
    key) echo '--public= --no-password' ;;
  esac
}

# Prints the versions in the directory that the command line names, or in the current directory.
_agent_releases_versions() {
  local at directory=.
  for ((at = 1; at < COMP_CWORD; at++)); do
    case ${COMP_WORDS[at]} in
      --dir=*) directory=${COMP_WORDS[at]#--dir=} ;;
      --dir)
        [[ ${COMP_WORDS[at + 1]} == = ]] && directory=${COMP_WORDS[at + 2]}
        [[ ${COMP_WORDS[at + 1]} == = ]] || directory=${COMP_WORDS[at + 1]}
        ;;
    esac
  done
  agent-releases --dir="$directory" --json list 2>/dev/null |
    grep -o '"version":"[^"]*"' | cut -d '"' -f 4
}

# Prints the values of the option $1 that begin with $2.
_agent_releases_values() {
  case $1 in
    --dir | --keys | --control) compgen -d -- "$2" ;;
    --out | --check) compgen -d -- "$2" ;;
    --sign | --public | --entry | --cacert) compgen -f -- "$2" ;;
    --arch)
      compgen -W 'x86_64 i386 aarch64 armhf armel mips mipsel riscv64 ppc64le s390x any' -- "$2"
      ;;
    --min-protocol) compgen -W '1' -- "$2" ;;
    --running) compgen -W "$(_agent_releases_versions)" -- "$2" ;;
    --stage)
      compgen -W 'request spawn start confirm cancel stop trial commit shutdown boot' -- "$2"
      ;;
    --errno) compgen -W 'ENOENT ENOEXEC' -- "$2" ;;
    --keep) compgen -W '1 2 3 5 10' -- "$2" ;;
    --older) compgen -W '12h 7d 30d 90d' -- "$2" ;;
  esac
}

_agent_releases() {
  local current=${COMP_WORDS[COMP_CWORD]} option= kept= command= at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ " $_agent_releases_commands " == *" ${COMP_WORDS[at]} "* ]] || continue
    [[ ${COMP_WORDS[at - 1]} == = ]] && continue
    command=${COMP_WORDS[at]}
    break
  done
  _upgrader_find_value
  if [[ $option ]]; then
    _upgrader_offer_values _agent_releases_values
    compopt -o filenames
  elif [[ $current == -* ]]; then
    _upgrader_offer_options "$_agent_releases_options $(_agent_releases_options_of "$command")"
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_agent_releases_commands" -- "$current")
  elif [[ $command == key && ${COMP_WORDS[COMP_CWORD - 1]} == key ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'make public' -- "$current")
  elif [[ $command =~ ^(add|adopt|pack|key)$ ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames
  elif [[ ! $command =~ ^(list|try|fail|prune)$ ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_agent_releases_versions)" -- "$current")
  fi
}

complete -F _agent_releases agent-releases
