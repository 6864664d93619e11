# The library fleet/store: the interface of the store, its implementation on etcd, and code for any
# store. Messages are protobuf's, generated from etcd.proto.
build_packages += libcurl4-openssl-dev libssl-dev libprotobuf-dev protobuf-compiler

etcd_proto := $(BUILD)/generated/etcd.pb
$(etcd_proto).cc: fleet/store/etcd.proto
	@mkdir -p $(@D)
	protoc --cpp_out=$(@D) --proto_path=fleet/store $<
$(etcd_proto).h: $(etcd_proto).cc ;
# Generated code is compiled without warnings.
$(etcd_proto).o: $(etcd_proto).cc
	$(CXX) -std=c++20 -w -fPIC $(wide_types) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<
etcd_messages := $(BUILD)/objects/fleet/store/etcd_messages.o
$(etcd_messages): CPPFLAGS += -isystem $(BUILD)/generated
$(etcd_messages): | $(etcd_proto).h

fleet_store := $(BUILD)/libfleet-store.a
fleet_store_libraries := -lcurl -lssl -lcrypto -lprotobuf-lite -luv
$(fleet_store): \
    $(call unit,fleet/store,$(filter-out %/etcd_messages.cc,$(wildcard fleet/store/*.cc))) \
    $(etcd_messages) $(etcd_proto).o
	$(make_archive)

# ---- the tests of the store: tests/together/fleet/store_*; those that every store has to pass are
# linked with a bed, which provides one

# A double of etcd in memory, and a clock that only tests move.
fleet_double_objects := $(call objects,$(addprefix tests/together/fleet/,fake_cell.cc \
  fake_store.cc virtual_time.cc))
$(fleet_double_objects): CXXFLAGS += -O2
$(fleet_doubles): $(fleet_double_objects); $(make_archive)

store_tests := $(addprefix $(BUILD)/tests/together/fleet/store_,fake_test parts_test random_test)
# Tests with real members of etcd: `make fleet-check`.
etcd_tests := $(addprefix $(BUILD)/tests/together/fleet/store_,etcd_test faults_test)
tool_tests += $(store_tests)

fleet_parts = $(call objects,$(addprefix tests/together/fleet/,$(1)) tests/catch_main.cc)
etcd_parts := etcd_cluster.cc tcp_proxy.cc
$(BUILD)/tests/together/fleet/store_fake_test: \
  $(call fleet_parts,store_contract.cc store_bed.cc fake_bed.cc)
$(BUILD)/tests/together/fleet/store_parts_test: $(call fleet_parts,store_parts_test.cc)
$(BUILD)/tests/together/fleet/store_random_test: $(call fleet_parts,store_random_test.cc \
  register_play.cc)
$(BUILD)/tests/together/fleet/store_etcd_test: \
  $(call fleet_parts,store_contract.cc store_bed.cc etcd_bed.cc $(etcd_parts))
$(BUILD)/tests/together/fleet/store_faults_test: \
  $(call fleet_parts,store_faults_test.cc register_play.cc $(etcd_parts))
$(store_tests) $(etcd_tests): $(fleet_doubles) $(fleet_store) $(BUILD)/libfleet-model.a \
    $(base_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(fleet_store_libraries) -lpthread

.PHONY: fleet-check
fleet_check_packages = $(build_packages) catch2 chromium etcd-server etcd-client openssl minisign \
  python3 iproute2 strace
fleet-check:
	@tests/need-packages $(fleet_check_packages)
	@$(MAKE) $(jobs) --no-print-directory fleet-check-here
# The makefiles of programs that use the store add these to the target.
fleet-check-here: $(etcd_tests)
	@tests/together/fleet/check $(BUILD)
