#compdef fleet-agent
# Completion of fleet-agent's command line in zsh: what its --help says.

_upgrader_by_help fleet-agent
