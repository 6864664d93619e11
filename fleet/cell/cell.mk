# Builds the library with which `fleetctl cell` and `fleetctl dev` decide what a cell consists of.
fleet_cell := $(BUILD)/libfleet-cell.a
$(fleet_cell): $(call unit,fleet/cell,$(wildcard fleet/cell/*.cc)); $(make_archive)
