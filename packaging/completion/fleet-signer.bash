# Completes the command line of fleet-signer in bash, from the text of its --help.

. "${BASH_SOURCE[0]%"${BASH_SOURCE[0]##*/}"}upgrader-words.sh"

complete -F _upgrader_complete_by_help fleet-signer
