# agent-conformance: tells the author of an agent what is wrong with it. No code of what it judges:
# of libbase.a it takes the command line alone.
# Its tests are in tests/together/conformance.
conformance := $(BUILD)/agent-conformance
conformance_library := $(BUILD)/libconformance.a
conformance_objects := $(call unit,tools/agent-conformance, \
  $(filter-out %/main.cc,$(wildcard tools/agent-conformance/*.cc)))

tool_programs += $(conformance)

$(conformance_library): $(conformance_objects); $(make_archive)
$(conformance): $(BUILD)/objects/tools/agent-conformance/main.o $(conformance_library) \
  $(base_library)
	$(LINK) -o $@ $^ -luv

conformance_files := $(wildcard tests/together/conformance/*_test.cc)
conformance_units := $(conformance_files:%.cc=$(BUILD)/%)
$(BUILD)/objects/units/tests/together/conformance/%.o \
  $(BUILD)/objects/tests/together/conformance/%.o: CXXFLAGS += -O0
$(call wing,together/conformance/wing,$(conformance_files))
$(BUILD)/tests/together/conformance/wing: \
    $(call unit,tests/together/conformance/wing,$(conformance_files)) $(catch_main) \
    $(conformance_library) $(base_library)
	$(link_wing)

# The agents that are wrong in one way each: one program, and what is wrong is its argument.
conformance_double := $(BUILD)/tests/together/conformance/double
$(conformance_double): $(BUILD)/objects/tests/together/conformance/double.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

conformance_scripts := tests/together/conformance/wrong_agents tests/together/conformance/reports \
  tests/together/conformance/right_agents
check-built: $(conformance) $(conformance_double)
tool_tests += $(conformance_units) $(conformance_scripts)
slow_tests += tests/together/conformance/right_agents tests/together/conformance/wrong_agents
tool_packages += python3 mandoc strace
sanitized_tests += $(conformance_units) tests/together/conformance/wrong_agents \
  tests/together/conformance/reports
sanitized_programs += $(conformance) $(conformance_double)

# What is to be run with real agents, in every language and of every kind: other directories add to
# it. Each is what tests/run can run, and gets what it needs of Debian installed first. Figures go
# into the page TABLE.
check_agents_tests += tests/together/conformance/all_right_agents \
  tests/together/conformance/wrong_agents
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
	@BUILD=$(BUILD) TIMES=10 LOAD=$$(($$(nproc) * 4)) tests/together/conformance/all_right_agents
