#compdef fleet-controller
# Completion of fleet-controller's command line in zsh: what its --help says.

_upgrader_by_help fleet-controller
