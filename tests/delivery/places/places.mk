# Tests upgrades whose system calls are watched and denied. They take seconds, so every `make check`
# runs them.
layer_tests += tests/delivery/places/calls
