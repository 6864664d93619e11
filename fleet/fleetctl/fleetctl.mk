# fleetctl: a person's side of a fleet, against the store directly.
build_packages += libssl-dev

fleetctl_parts := $(filter-out fleet/fleetctl/main.cc,$(wildcard fleet/fleetctl/*.cc))
fleetctl_library := $(BUILD)/libfleetctl.a
$(fleetctl_library): $(call objects,$(fleetctl_parts)); $(make_archive)
$(BUILD)/objects/fleet/fleetctl/%.o: CPPFLAGS += $(releases_include)
# CLI11 2.1.2 shadows its own names.
$(BUILD)/objects/fleet/fleetctl/options.o: WARNINGS += -Wno-shadow

$(BUILD)/fleetctl: $(call objects,fleet/fleetctl/main.cc) $(fleetctl_library) \
    $(fleet_agent_libraries)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) -Wl,--as-needed -lcurl -lprotobuf-lite -luv \
	  -larchive -lsodium -lpcre2-8 -lcrypto

# ---- its tests

fleet-check-here: $(BUILD)/fleetctl
