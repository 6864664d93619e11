# The fleet's store: the interface, an etcd as memory for tests, and what stands on either.
fleet_store_pure := $(addprefix fleet/store/,fake_cell.cc fake_store.cc lease_keeper.cc mirror.cc \
  virtual_time.cc)
fleet_store := $(BUILD)/libfleet-store.a
$(fleet_store): $(call objects,$(fleet_store_pure)); $(make_archive)

# ---- its tests: tests/fleet/store_*; those that every store passes are linked with a bed

store_bed_objects := $(call objects,tests/fleet/store_bed.cc tests/catch_main.cc)
store_fake_test := $(BUILD)/tests/fleet/store_fake_test
node_tests += $(store_fake_test)
$(store_fake_test): $(call objects,tests/fleet/store_contract.cc tests/fleet/fake_bed.cc) \
    $(store_bed_objects) $(fleet_store) $(fleet_model)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^
