#compdef fleet-controller
# Completes the command line of fleet-controller in zsh, from the text of its --help.

_upgrader_by_help fleet-controller
