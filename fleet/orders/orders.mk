# The library fleet/orders decides about the orders that people give, both through fleetctl and
# through HTTP.
$(BUILD)/libfleet-orders.a: $(call unit,fleet/orders,$(wildcard fleet/orders/*.cc)); $(make_archive)
