# make endurance: one upgrader through many upgrades, and the sample agent's lines through as many
# hand-overs.

endurance_programs := $(addprefix $(BUILD)/tests/endurance/,endurance leak.so)

$(BUILD)/tests/endurance/endurance: $(call objects,$(filter-out tests/endurance/leak.cc, \
    $(wildcard tests/endurance/*.cc))) $(BUILD)/objects/tests/kill/theatre.o $(support_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

$(BUILD)/tests/endurance/leak.so: $(BUILD)/objects/tests/endurance/leak.o
	@mkdir -p $(@D)
	$(LINK) -shared -o $@ $^ -ldl

endurance_packages = $(build_packages) catch2
HANDOVERS ?= $(if $(LONG),1000,150)

# First the sample agent, whether all its lines arrive; then the scripted ones.
.PHONY: endurance
endurance:
	@tests/need-packages $(endurance_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/tests/kill/actor \
	  $(endurance_programs) samples $(BUILD)/tests/integration/sample_agent_test
	@HANDOVERS=$(HANDOVERS) $(BUILD)/tests/integration/sample_agent_test \
	  'hand-overs under a running writer*'
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT INT TERM && \
	  TMPDIR=$$directory UPGRADES='$(UPGRADES)' LONG='$(LONG)' \
	  $(BUILD)/tests/endurance/endurance tests/endurance/log_lines.table
