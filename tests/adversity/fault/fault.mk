# `make fault` makes system calls of the real upgrader fail, one in each run. Its settings are
# LONG=1 (every fault, not a sample), SAMPLE, SEED, PLAY (only the faults of one play, a scripted
# run), JOBS, OUTCOMES=1, and ONLY=PLAY:WHO:CALL:ERROR:K for a single fault with its trace.

fault_program := $(BUILD)/tests/adversity/fault/fault
broken_upgrader := $(BUILD)/tests/adversity/fault/broken

$(fault_program): $(call objects,$(filter-out %/broken.cc,$(wildcard tests/adversity/fault/*.cc)) \
      tests/adversity/fuzz/second_json.cc) \
    $(support_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

$(broken_upgrader): $(BUILD)/objects/tests/adversity/fault/broken.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

.PHONY: fault
fault:
	@tests/need-packages $(build_packages) catch2
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(puppet) $(fault_program) \
	  $(broken_upgrader)
	@UPGRADER=$(abspath $(BUILD))/upgrader PUPPET=$(abspath $(puppet)) \
	  BROKEN=$(abspath $(broken_upgrader)) TABLE=tests/adversity/fault/expectations.table \
	  LONG=$(LONG) SAMPLE=$(SAMPLE) SEED=$(SEED) PLAY=$(PLAY) JOBS=$(JOBS) OUTCOMES=$(OUTCOMES) \
	  ONLY=$(ONLY) $(fault_program)
