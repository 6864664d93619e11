# What a cell consists of, as it is set up: for `fleetctl dev` and `fleetctl cell`.
fleet_cell := $(BUILD)/libfleet-cell.a
$(fleet_cell): $(call unit,fleet/cell,$(wildcard fleet/cell/*.cc)); $(make_archive)
