# agent-conformance: tells the author of an agent what is wrong with it. No code of what it judges:
# of libupgrader.a it takes the command line alone.
# Its tests are in tests/conformance.
conformance := $(BUILD)/agent-conformance
conformance_library := $(BUILD)/libconformance.a
conformance_objects := $(call unit,node/conformance, \
  $(filter-out %/main.cc,$(wildcard node/conformance/*.cc)))

node_programs += $(conformance)

$(conformance_library): $(conformance_objects); $(make_archive)
$(conformance): $(BUILD)/objects/node/conformance/main.o $(conformance_library) $(upgrader_library)
	$(LINK) -o $@ $^ -luv

conformance_units := $(patsubst %.cc,$(BUILD)/%,$(wildcard tests/conformance/*_test.cc))
$(BUILD)/objects/tests/conformance/%.o: CXXFLAGS += -O0
$(conformance_units): $(BUILD)/tests/conformance/%: $(BUILD)/objects/tests/conformance/%.o \
    $(BUILD)/objects/tests/catch_main.o $(conformance_library) $(upgrader_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# The agents that are wrong in one way each: one program, and what is wrong is its argument.
conformance_double := $(BUILD)/tests/conformance/double
$(conformance_double): $(BUILD)/objects/tests/conformance/double.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

conformance_scripts := tests/conformance/wrong_agents tests/conformance/reports \
  tests/conformance/right_agents
check-here: $(conformance) $(conformance_double)
node_tests += $(conformance_units) $(conformance_scripts)
slow_tests += tests/conformance/right_agents tests/conformance/wrong_agents
node_packages += python3 mandoc strace
sanitized_tests += $(conformance_units) tests/conformance/wrong_agents tests/conformance/reports
sanitized_programs += $(conformance) $(conformance_double)

# What is to be run with real agents, in every language and of every kind: other directories add to
# it. Each is what tests/run can run, and gets what it needs of Debian installed first. Figures go
# into the page TABLE.
check_agents_tests += tests/conformance/all_right_agents tests/conformance/wrong_agents
check_agents_packages += $(build_packages) strace gcc golang-go nodejs cargo rustc \
  librust-libc-dev librust-serde-json-dev socat util-linux python3

.PHONY: check-agents check-agents-loaded
check-agents:
	@tests/need-packages $(check_agents_packages)
	@$(MAKE) $(jobs) --no-print-directory $(programs) samples $(conformance_double)
	@TABLE=man/agentify.1 tests/run $(BUILD) $(check_agents_tests)
	@$(MAKE) --no-print-directory check-agents-loaded

# Ten times without a complaint, while four processes compute for every processor.
check-agents-loaded: $(conformance) $(protocol_library)
	@BUILD=$(BUILD) TIMES=10 LOAD=$$(($$(nproc) * 4)) tests/conformance/all_right_agents
