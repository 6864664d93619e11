# The library of fleet/orders, which decides what people may order, for fleetctl and for HTTP alike.
$(BUILD)/libfleet-orders.a: $(call unit,fleet/orders,$(wildcard fleet/orders/*.cc)); $(make_archive)
