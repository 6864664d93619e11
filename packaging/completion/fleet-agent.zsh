#compdef fleet-agent
# Completes the command line of fleet-agent in zsh, from the text of its --help.

_upgrader_by_help fleet-agent
