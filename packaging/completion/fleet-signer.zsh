#compdef fleet-signer
# Completes the command line of fleet-signer in zsh, from the text of its --help.

_upgrader_by_help fleet-signer
