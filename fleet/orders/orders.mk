# The library fleet/orders: decides the orders of people, for fleetctl and for HTTP alike.
$(BUILD)/libfleet-orders.a: $(call unit,fleet/orders,$(wildcard fleet/orders/*.cc)); $(make_archive)
