# Completion of fleet-agent's command line in bash: what its --help says.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

complete -F _upgrader_complete_by_help fleet-agent
