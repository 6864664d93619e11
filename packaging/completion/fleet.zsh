#compdef fleetctl fleet-agent fleet-controller fleet-signer
# Completes the command lines of fleetctl, fleet-agent, fleet-controller and fleet-signer in zsh:
# options, their values and commands, from the --help of the program and its commands. Installed
# under the name of each of the four programs.

# Prints the help of the program and the commands "$@", each entry on one line.
_upgrader_help_lines() {
  "$@" --help 2>/dev/null |
    awk '/^ {20}/ { sub(/^ +/, "  "); line = line $0; next } { print line; line = $0 }
         END { print line }'
}

_upgrader_help_commands() {
  _upgrader_help_lines "$@" | sed -nE '1,/^Subcommands:/d; s/^  ([a-z][a-z-]*) +(.*)/\1:\2/p'
}

local -a route=($service) below specs
local line name form about
integer at
below=("${(@f)$(_upgrader_help_commands $route)}")
for ((at = 2; at < CURRENT; at += 1)); do
  if ((${below[(I)${words[at]}:*]})); then
    route+=(${words[at]})
    below=("${(@f)$(_upgrader_help_commands $route)}")
  fi
done

for line in "${(@f)$(_upgrader_help_lines $route; _upgrader_help_lines $service)}"; do
  [[ $line =~ '^  (-h,)?(--[a-z][a-z-]*)( ([A-Z][A-Z|%]*|[a-z]+(\|[a-z]+)+))?[^ ]*(.*)' ]] ||
    continue
  name=$match[2] form=$match[4]
  about=${${${match[6]##*  }//\[/(}//\]/)}
  about=${about//:/,}
  [[ -n ${specs[(r)${name}[=\[]*]} ]] && continue
  case $form in
    '') specs+=("${name}[$about]") ;;
    FILE) specs+=("${name}=[$about]:file:_files") ;;
    DIR) specs+=("${name}=[$about]:directory:_files -/") ;;
    TIME) specs+=("${name}=[$about]:duration:_upgrader_durations") ;;
    [a-z]*'|'*) specs+=("${name}=[$about]:value:(${form//|/ })") ;;
    *) specs+=("${name}=[$about]:${(L)form//|/ or }: ") ;;
  esac
done

if ((${#below} > 0)) && [[ -n $below[1] ]]; then
  _arguments -S $specs "*:command:((${(j: :)${(@qq)below}}))"
elif _upgrader_help_lines $route | grep -qE '^  (FILE|MANIFEST) '; then
  _arguments -S $specs '*:file:_files'
else
  _arguments -S $specs '*: : '
fi
