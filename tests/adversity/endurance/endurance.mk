# `make endurance` runs many upgrades under a single upgrader process. It also replaces the sample
# agent many times while that agent copies lines, and checks that no line is lost.

endurance_programs := $(addprefix $(BUILD)/tests/adversity/endurance/,endurance leak.so)

$(BUILD)/tests/adversity/endurance/endurance: $(call objects, \
    $(filter-out %/leak.cc,$(wildcard tests/adversity/endurance/*.cc))) $(support_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

$(BUILD)/tests/adversity/endurance/leak.so: $(BUILD)/objects/tests/adversity/endurance/leak.o
	@mkdir -p $(@D)
	$(LINK) -shared -o $@ $^ -ldl

endurance_packages = $(build_packages) catch2
HANDOVERS ?= $(if $(LONG),1000,150)

# Runs the test of the sample agent first, which checks that all lines arrive. Then runs the
# scripted upgrades.
.PHONY: endurance
endurance:
	@tests/need-packages $(endurance_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/tests/adversity/kill/actor \
	  $(endurance_programs) samples $(BUILD)/tests/together/integration/sample_agent_test
	@HANDOVERS=$(HANDOVERS) $(BUILD)/tests/together/integration/sample_agent_test \
	  'hand-overs under a running writer*'
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT INT TERM && \
	  TMPDIR=$$directory UPGRADES='$(UPGRADES)' LONG='$(LONG)' \
	  $(BUILD)/tests/adversity/endurance/endurance tests/adversity/endurance/log_lines.table
