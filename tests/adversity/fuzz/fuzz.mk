# make fuzz: libFuzzer on what takes hostile bytes, by clang; and its corpus, replayed in
# `make check` without clang.

# Targets and what they are made of: the bytes and the decisions of the program, no shell.
fuzz_sources := $(filter-out %/fuzzer.cc %_test.cc,$(wildcard tests/adversity/fuzz/*.cc)) \
  $(addprefix tests/support/,actions.cc every_event.cc print.cc watcher.cc) \
  $(filter-out %_test.cc tests/decisions/explore/second%,$(wildcard tests/decisions/explore/*.cc)) \
  $(wildcard $(addsuffix /*.cc,agent-protocol/cpp/wire agent-protocol/cpp/session upgrader/wire \
    upgrader/core)) \
  $(base_text_parts) $(base_upgrader_parts) \
  $(addprefix sample-agent/,configuration.cc position.cc)

# The fuzzer's objects lie apart: another compiler, with sanitizers. Only the program counts edges:
# what the harness does is no news.
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

# An archive: of the explorer only what is needed.
$(BUILD)/fuzz/libfuzzed.a: $(fuzz_objects); $(make_archive)
$(BUILD)/tests/adversity/fuzz/fuzzer: $(BUILD)/fuzz/libfuzzed.a
	@mkdir -p $(@D)
	clang++-14 $(fuzz_sanitizers) -fsanitize=fuzzer -o $@ $^

# The same targets, by the compiler of everything else.
layer_tests += $(BUILD)/tests/adversity/fuzz/replay_test
$(BUILD)/objects/tests/adversity/fuzz/%.o: CXXFLAGS += -O1
$(BUILD)/tests/adversity/fuzz/replay_test: $(call objects,$(filter \
  tests/adversity/fuzz/%,$(fuzz_sources)) \
    $(filter sample-agent/%,$(fuzz_sources)) tests/adversity/fuzz/replay_test.cc) \
    $(support_library) $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# For each target; LONG=1 takes ten minutes for each.
SECONDS ?= $(if $(LONG),600,12)
fuzz_packages = g++ libcereal-dev python3 clang-14 libclang-rt-14-dev

.PHONY: fuzz fuzz-merge
fuzz:
	@tests/need-packages $(fuzz_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/adversity/fuzz/fuzzer
	@tests/adversity/fuzz/run $(BUILD) $(SECONDS)

# What the runs in this build directory have found on new ways through the program, and the corpus,
# become the corpus: no more than it takes.
fuzz-merge:
	@tests/need-packages $(fuzz_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/adversity/fuzz/fuzzer
	@tests/adversity/fuzz/run $(BUILD) merge
