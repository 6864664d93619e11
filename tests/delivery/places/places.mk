# Upgrades whose system calls are watched and denied: seconds, so every `make check` makes them.
layer_tests += tests/delivery/places/calls
