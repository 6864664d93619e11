# The library fleet/cell, which `fleetctl cell` and `fleetctl dev` use. The library decides which
# certificates, settings and programs the machines of a new cell get. It also judges whether an
# existing cell works.
fleet_cell := $(BUILD)/libfleet-cell.a
$(fleet_cell): $(call unit,fleet/cell,$(wildcard fleet/cell/*.cc)); $(make_archive)
