# Builds the library of the parts that make a cell, for `fleetctl dev`.
fleet_cell := $(BUILD)/libfleet-cell.a
$(fleet_cell): $(call unit,fleet/cell,$(wildcard fleet/cell/*.cc)); $(make_archive)
