# fleetctl, the program by which people see and order a fleet, directly on the store.
fleetctl_parts := $(filter-out fleet/fleetctl/main.cc,$(wildcard fleet/fleetctl/*.cc))
fleetctl_library := $(BUILD)/libfleetctl.a
$(fleetctl_library): $(call unit,fleet/fleetctl,$(fleetctl_parts)); $(make_archive)

$(BUILD)/fleetctl: $(call objects,fleet/fleetctl/main.cc) $(fleetctl_library) \
    $(fleet_agent_libraries)
	$(link_fleet_agent)

# ---- the tests of fleetctl

fleet-check-here: $(BUILD)/fleetctl
fleetctl_tests := $(addprefix $(BUILD)/tests/together/fleet/,shown_test fleetctl_parts_test)
tool_tests += $(fleetctl_tests)
$(fleetctl_tests): $(BUILD)/%: $(BUILD)/objects/%.o $(BUILD)/objects/tests/catch_main.o \
    $(fleetctl_library) $(fleet_agent_libraries)
	$(link_fleet_agent)

# A test that reads random records with all code that reads records. It links everything, so it is
# listed with the last of the programs. make fuzz-records runs it with sanitizers, for as long as it
# is told: SECONDS=N, SEED=N.
fleet_fuzz := $(BUILD)/tests/together/fleet/fuzz_records_test
tool_tests += $(fleet_fuzz)
fleet_fuzz_parts := $(addprefix tests/together/fleet/,record_maker.cc record_world.cc \
  record_world_duties.cc record_shows.cc record_agent.cc test_store.cc)
$(call objects,$(fleet_fuzz_parts)): CXXFLAGS += -O1
$(fleet_fuzz): $(call objects,tests/together/fleet/fuzz_records_test.cc $(fleet_fuzz_parts)) \
    $(BUILD)/objects/tests/catch_main.o $(fleet_doubles) $(fleetctl_library) \
    $(BUILD)/libfleet-controller.a \
    $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries) -lpthread
# Every sanitized test is linked with the upgrader's library: see sanitize.mk.
ifdef SANITIZE
$(fleet_fuzz): | $(upgrader_library)
endif
.PHONY: fuzz-records fuzz-records-here
fuzz-records:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/sanitize-all SANITIZE=1 fuzz-records-here
fuzz-records-here: $(fleet_fuzz)
	@SECONDS=$(SECONDS) SEED=$(or $(SEED),1) $(fleet_fuzz)
