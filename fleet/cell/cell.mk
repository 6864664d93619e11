# The library fleet/cell decides for `fleetctl cell` and `fleetctl dev` what a cell consists of.
fleet_cell := $(BUILD)/libfleet-cell.a
$(fleet_cell): $(call unit,fleet/cell,$(wildcard fleet/cell/*.cc)); $(make_archive)
