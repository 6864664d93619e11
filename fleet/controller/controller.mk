# fleet-controller, which drives rollouts and desired versions on the store, by the model's drivers.
fleet_controller_parts := $(filter-out fleet/controller/main.cc,$(wildcard fleet/controller/*.cc))
fleet_controller_library := $(BUILD)/libfleet-controller.a
$(fleet_controller_library): $(call unit,fleet/controller,$(fleet_controller_parts))
	$(make_archive)

# In this list, a library comes before the libraries that it uses.
$(BUILD)/fleet-controller: $(call objects,fleet/controller/main.cc) $(fleet_controller_library) \
    $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries) -lpthread

# ---- the tests of fleet-controller: tests/together/fleet/rollouts, with real upgraders and
# fleet-agents

fleet-check-here: $(BUILD)/fleet-controller
fleet_controller_tests := $(addprefix $(BUILD)/tests/together/fleet/,campaign_test driving_test \
  day_test)
tool_tests += $(fleet_controller_tests)
$(fleet_controller_tests): $(BUILD)/%: $(BUILD)/objects/%.o $(BUILD)/objects/tests/catch_main.o \
    $(call objects,fleet/fleetctl/rollout_bars.cc) $(fleet_doubles) \
    $(fleet_controller_library) $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries)
# day_test simulates part of a day of rollouts; make simulate-fleet-day simulates all of it:
# HOURS=24, SEED=1.
$(BUILD)/tests/together/fleet/day_test: $(call objects,tests/together/fleet/day_machine.cc)
$(call objects,tests/together/fleet/day_test.cc tests/together/fleet/day_machine.cc): CXXFLAGS += \
  -O1
.PHONY: simulate-fleet-day
simulate-fleet-day:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/together/fleet/day_test
	@HOURS=$(or $(HOURS),24) SEED=$(or $(SEED),1) $(BUILD)/tests/together/fleet/day_test
