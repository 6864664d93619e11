# fleetctl, the program with which people watch and steer a fleet. It reads and writes the store
# directly.
fleetctl_parts := $(filter-out fleet/fleetctl/main.cc,$(wildcard fleet/fleetctl/*.cc))
fleetctl_library := $(BUILD)/libfleetctl.a
$(fleetctl_library): $(call unit,fleet/fleetctl,$(fleetctl_parts)); $(make_archive)

$(BUILD)/fleetctl: $(call objects,fleet/fleetctl/main.cc) $(fleetctl_library) $(fleet_cell) \
    $(fleet_agent_libraries)
	$(link_fleet_agent)
