# The library fleet/store: the interface of the store, its implementation with etcd, and code for
# any store. Protobuf's compiler makes the code for etcd's messages from etcd.proto.
build_packages += libcurl4-openssl-dev libssl-dev libprotobuf-dev protobuf-compiler

etcd_proto := $(BUILD)/generated/etcd.pb
$(etcd_proto).cc: fleet/store/etcd.proto
	@mkdir -p $(@D)
	protoc --cpp_out=$(@D) --proto_path=fleet/store $<
$(etcd_proto).h: $(etcd_proto).cc ;
# Warnings are turned off for the generated code.
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

.PHONY: fleet-check
fleet_check_packages = $(build_packages) catch2 chromium etcd-server etcd-client openssl minisign \
  prometheus python3 iproute2 strace
fleet-check:
	@tests/need-packages $(fleet_check_packages)
	@$(MAKE) $(jobs) --no-print-directory fleet-check-here
# The programs and tests that use etcd are added as prerequisites in tests/together/fleet/fleet.mk
# and fleet/agent/agent.mk.
fleet-check-here:
	@tests/together/fleet/check $(BUILD)
