# make fuzz: runs libFuzzer, built with clang, on the code that reads hostile bytes. `make check`
# runs the same code on the fuzzer's stored inputs, without clang.

# The sources of the fuzz targets, and of the code that these targets test. The tested code reads
# and writes messages, and makes the decisions. The code in upgrader/shell is not tested here.
fuzz_sources := $(filter-out %/fuzzer.cc %_test.cc,$(wildcard tests/adversity/fuzz/*.cc)) \
  $(addprefix tests/support/,actions.cc every_event.cc print.cc watcher.cc) \
  $(filter-out %_test.cc tests/decisions/explore/second%,$(wildcard tests/decisions/explore/*.cc)) \
  $(wildcard $(addsuffix /*.cc,agent-protocol/cpp/wire agent-protocol/cpp/session upgrader/wire \
    upgrader/core)) \
  $(base_text_parts) $(base_upgrader_parts) \
  $(addprefix sample-agent/,configuration.cc position.cc)

# The fuzzer has object files of its own, built by clang with sanitizers. libFuzzer keeps an input
# if the input takes a new branch. Branches of the test code do not count: only the tested code is
# compiled so that it reports its branches to libFuzzer.
fuzz_sanitizers = -fsanitize=address,undefined -fno-sanitize-recover=undefined
fuzz_compile = clang++-14 -std=c++20 $(WARNINGS) $(wide_types) $(CPPFLAGS) -O2 -g1 \
  $(fuzz_sanitizers) -MMD -MP
fuzz_objects := $(patsubst %.cc,$(BUILD)/fuzz/objects/%.o,$(fuzz_sources) \
  tests/adversity/fuzz/fuzzer.cc)
$(BUILD)/fuzz/objects/%.o: %.cc
	@mkdir -p $(@D)
	$(fuzz_compile) -fsanitize=fuzzer-no-link -c -o $@ $<
$(BUILD)/fuzz/objects/tests/%.o: tests/%.cc
	@mkdir -p $(@D)
	$(fuzz_compile) -c -o $@ $<

# Puts the objects into a static library. The linker then takes only those objects of
# tests/decisions/explore that the fuzzer needs.
$(BUILD)/fuzz/libfuzzed.a: $(fuzz_objects); $(make_archive)
$(BUILD)/tests/adversity/fuzz/fuzzer: $(BUILD)/fuzz/libfuzzed.a
	@mkdir -p $(@D)
	clang++-14 $(fuzz_sanitizers) -fsanitize=fuzzer -o $@ $^

# replay_test, which the usual compiler builds, runs the same fuzz targets on the stored inputs.
layer_tests += $(BUILD)/tests/adversity/fuzz/replay_test
$(BUILD)/objects/tests/adversity/fuzz/%.o $(BUILD)/objects/units/tests/adversity/fuzz/%.o: \
  CXXFLAGS += -O1
fuzz_decisions := $(patsubst %,tests/adversity/fuzz/%.cc,core_target control_target) \
  $(filter sample-agent/%,$(fuzz_sources))
$(BUILD)/tests/adversity/fuzz/replay_test: \
    $(call objects,tests/adversity/fuzz/replay_test.cc) \
    $(call unit,tests/adversity/fuzz/decisions,$(fuzz_decisions)) \
    $(call unit,tests/adversity/fuzz/bytes, \
    $(filter-out $(fuzz_decisions),$(filter tests/adversity/fuzz/%,$(fuzz_sources)))) \
    $(support_library) $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# How long the fuzzer runs on each target, in seconds.
SECONDS ?= $(if $(LONG),600,12)
fuzz_packages = g++ libcereal-dev python3 clang-14 libclang-rt-14-dev

.PHONY: fuzz fuzz-merge
fuzz:
	@tests/need-packages $(fuzz_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/adversity/fuzz/fuzzer
	@tests/adversity/fuzz/run $(BUILD) $(SECONDS)

# Adds the inputs that this build directory's runs have found to the stored corpus, if they reach
# new branches, and removes inputs that are no longer needed.
fuzz-merge:
	@tests/need-packages $(fuzz_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/adversity/fuzz/fuzzer
	@tests/adversity/fuzz/run $(BUILD) merge
