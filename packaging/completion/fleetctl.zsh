#compdef fleetctl
# Completion of fleetctl's command line in zsh: what its --help says.

_upgrader_by_help fleetctl
