# Tests upgrades while the upgrader's system calls are watched or denied. The tests take seconds, so
# every `make check` runs them.
layer_tests += tests/delivery/places/calls
