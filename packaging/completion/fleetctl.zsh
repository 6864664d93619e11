#compdef fleetctl
# Completes the command line of fleetctl in zsh, from the text of its --help.

_upgrader_by_help fleetctl
