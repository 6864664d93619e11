# fleet-agent, the program that runs on each machine of a cell. It speaks agent-protocol with the
# upgrader that has started it, reads and writes records in the store (etcd), and fetches releases
# with libagent-releases.
build_packages += libssl-dev
fleet_agent_parts := $(filter-out fleet/agent/main.cc fleet/agent/version.cc, \
  $(wildcard fleet/agent/*.cc))
fleet_agent_library := $(BUILD)/libfleet-agent.a
$(fleet_agent_library): $(call unit,fleet/agent,$(fleet_agent_parts)); $(make_archive)

# The library fleet/common, which several of the fleet's programs share. It has code for files,
# certificates and releases.
fleet_common_library := $(BUILD)/libfleet-common.a
$(fleet_common_library): $(call unit,fleet/common,$(wildcard fleet/common/*.cc)); $(make_archive)

# The libraries that all programs of the fleet are linked with. The linker drops libraries that a
# program does not call: fleet-agent, for example, calls nothing in fleet/orders.
fleet_agent_libraries := $(addprefix $(BUILD)/,libfleet-orders.a libfleet-agent.a \
  libfleet-common.a libfleet-store.a libfleet-model.a libagent-releases.a) $(control_library) \
  $(base_library) $(protocol_library)
link_fleet_agent = @mkdir -p $(@D) && \
  $(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) -Wl,--as-needed -lcurl -lprotobuf-lite -luv \
    -larchive -lsodium -lpcre2-8 -lssl -lcrypto
$(BUILD)/fleet-agent: $(call objects,fleet/agent/main.cc fleet/agent/version.cc) \
    $(fleet_agent_libraries)
	$(link_fleet_agent)

# ---- the tests of fleet-agent: several versions of fleet-agent, run by real upgraders, with real
# etcd

fleet_agent_versions := 1.0.0 1.1.0 1.2.0
fleet_agent_variants := $(patsubst %,$(BUILD)/tests/together/fleet/agents/%,$(fleet_agent_versions))
$(BUILD)/objects/tests/together/fleet/agents/%.o: fleet/agent/version.cc
	@mkdir -p $(@D)
	$(COMPILE) -DFLEET_AGENT_VERSION='"$*"' -c -o $@ $<
$(fleet_agent_variants): $(BUILD)/tests/together/fleet/agents/%: $(call \
  objects,fleet/agent/main.cc) \
    $(BUILD)/objects/tests/together/fleet/agents/%.o $(fleet_agent_libraries)
	$(link_fleet_agent)
.SECONDARY: $(patsubst %,$(BUILD)/objects/tests/together/fleet/agents/%.o,$(fleet_agent_versions))

# A shared library that gives a program a wrong wall clock. The tests in tests/together/fleet/node
# and tests/together/fleet/clocks load it.
fleet_wall_clock := $(BUILD)/tests/together/fleet/wall_clock.so
$(fleet_wall_clock): $(BUILD)/objects/tests/together/fleet/wall_clock.o
	@mkdir -p $(@D)
	$(LINK) -shared -o $@ $^
fleet-check-here: $(fleet_agent_variants) $(fleet_wall_clock)
