# fleetctl: a person's side of a fleet, against the store directly.
fleetctl_parts := $(filter-out fleet/fleetctl/main.cc,$(wildcard fleet/fleetctl/*.cc))
fleetctl_library := $(BUILD)/libfleetctl.a
$(fleetctl_library): $(call objects,$(fleetctl_parts)); $(make_archive)
$(BUILD)/objects/fleet/fleetctl/%.o: CPPFLAGS += $(releases_include)
# CLI11 2.1.2 shadows its own names.
$(BUILD)/objects/fleet/fleetctl/options.o: WARNINGS += -Wno-shadow

$(BUILD)/fleetctl: $(call objects,fleet/fleetctl/main.cc) $(fleetctl_library) \
    $(fleet_agent_libraries)
	$(link_fleet_agent)

# ---- its tests

fleet-check-here: $(BUILD)/fleetctl
