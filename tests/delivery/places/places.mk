# tests/delivery/places/calls watches or denies the upgrader's system calls during upgrades. It
# takes seconds, so every `make check` runs it.
layer_tests += tests/delivery/places/calls
