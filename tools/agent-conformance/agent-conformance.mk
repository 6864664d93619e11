# Builds agent-conformance, which tests whether an agent keeps the rules of the protocol.
# agent-conformance must share no faults with the programs that it tests. So it links none of their
# code, except the parser of command lines in libbase.a. The tests of agent-conformance are in
# tests/together/conformance.
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

# Builds the fake agent for the tests of agent-conformance. The fake agent can break each rule of
# the protocol; its argument names the rule to break.
conformance_double := $(BUILD)/tests/together/conformance/double
$(conformance_double): $(BUILD)/objects/tests/together/conformance/double.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

conformance_scripts := tests/together/conformance/wrong_agents tests/together/conformance/reports \
  tests/together/conformance/right_agents
check-built: $(conformance) $(conformance_double)
tool_tests += $(conformance_units) $(conformance_scripts)
slow_tests += tests/together/conformance/right_agents tests/together/conformance/wrong_agents
long_tests += tests/together/conformance/wrong_agents tests/together/conformance/right_agents
tool_packages += python3 mandoc strace
sanitized_tests += $(conformance_units) tests/together/conformance/wrong_agents \
  tests/together/conformance/reports
sanitized_programs += $(conformance) $(conformance_double)

# `make check-agents` runs agent-conformance on real agents in every language. Other makefiles add
# to two variables: check_agents_tests names the tests, and check_agents_packages names the Debian
# packages that the tests need. tests/need-packages makes sure that these packages are installed,
# then tests/run runs the tests. The results are written as a table into the manual page that the
# variable TABLE names.
check_agents_tests += tests/together/conformance/right_agents \
  tests/together/conformance/wrong_agents
check_agents_packages += $(build_packages) strace gcc golang-go nodejs cargo rustc \
  librust-libc-dev librust-serde-json-dev socat util-linux python3

.PHONY: check-agents check-agents-loaded
check-agents:
	@tests/need-packages $(check_agents_packages)
	@$(MAKE) $(jobs) --no-print-directory $(programs) samples $(conformance_double)
	@TABLE=man/agentify.1 AGENTS=ALL tests/run $(BUILD) $(check_agents_tests)
	@$(MAKE) --no-print-directory check-agents-loaded

# Runs agent-conformance ten times on each agent that is known to obey the protocol, while the
# machine is loaded: for each processor, four processes compute all the time. The test fails if a
# check finds a fault.
check-agents-loaded: $(conformance) $(protocol_library)
	@BUILD=$(BUILD) TIMES=10 LOAD=$$(($$(nproc) * 4)) tests/together/conformance/right_agents ALL
