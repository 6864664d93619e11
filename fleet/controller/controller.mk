# fleet-controller, which drives rollouts, plans and desired versions. The drivers themselves are in
# fleet/model.
fleet_controller_parts := $(filter-out fleet/controller/main.cc,$(wildcard fleet/controller/*.cc))
fleet_controller_library := $(BUILD)/libfleet-controller.a
$(fleet_controller_library): $(call unit,fleet/controller,$(fleet_controller_parts))
	$(make_archive)

# The linker needs this order: each library comes before the libraries that it calls.
$(BUILD)/fleet-controller: $(call objects,fleet/controller/main.cc) $(fleet_controller_library) \
    $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries) -lpthread
