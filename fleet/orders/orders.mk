# The library fleet/orders: decides the orders of people, for fleetctl and for HTTP alike.
$(BUILD)/libfleet-orders.a: $(call unit,fleet/orders,$(wildcard fleet/orders/*.cc)); $(make_archive)

# ---- the tests of fleet/orders

fleet_orders_tests := $(addprefix $(BUILD)/tests/together/fleet/,orders_test document_test)
tool_tests += $(fleet_orders_tests)
$(fleet_orders_tests): $(BUILD)/%: $(BUILD)/objects/%.o $(call objects, \
    tests/together/fleet/test_store.cc) $(BUILD)/objects/tests/catch_main.o $(fleet_agent_libraries)
	$(link_fleet_agent)
