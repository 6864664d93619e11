# Builds agent-releases and libagent-releases, which keep the versions (releases) of a program on
# disk. They fetch and verify each release, never change a release afterwards, and record how the
# upgrade to each release ended.

tool_packages += libcurl4-openssl-dev libsodium-dev libarchive-dev libcli11-dev minisign curl \
  xz-utils zstd
build_packages += libcurl4-openssl-dev libsodium-dev libarchive-dev libcli11-dev

releases_headers := $(wildcard tools/agent-releases/include/agent-releases/*.h)
# The files that only the program agent-releases contains. All other files are in libagent-releases.
releases_program_parts := $(addprefix tools/agent-releases/,main.cc $(addprefix shell/, \
  attempt.cc check_published.cc commands.cc key_files.cc options.cc pack.cc pack_files.cc \
  project_tree.cc report.cc))
releases_parts := $(filter-out $(releases_program_parts), \
  $(wildcard tools/agent-releases/*.cc tools/agent-releases/*/*.cc))
releases_library := $(BUILD)/libagent-releases.a
releases_program := $(BUILD)/agent-releases
releases_libraries = -lcurl -larchive -lsodium

# An agent can follow a directory of releases: when a different release in the directory should run,
# the agent upgrades itself to that release. The files for this are compiled separately from the
# files that fetch releases. So an agent that only follows a directory is linked without libcurl and
# libarchive.
releases_following := $(addprefix tools/agent-releases/shell/,directory.cc follower.cc \
  follower_work.cc ledger_file.cc lock.cc releases.cc self_test.cc store.cc trust.cc \
  verification.cc)
releases_core := $(wildcard tools/agent-releases/*.cc tools/agent-releases/core/*.cc)
version_parts := tools/agent-releases/core/version.cc
version_unit := $(call unit,tools/releases-version,$(version_parts))
# libagent-releases contains a copy of the JSON parser. The shared libagent-protocol contains a
# copy, too, but does not export it. So a program can link both libraries.
$(releases_library): $(base_text) $(base_moment) \
    $(version_unit) \
    $(call unit,tools/releases-core, \
      $(filter-out $(version_parts),$(filter $(releases_core),$(releases_parts)))) \
    $(call unit,tools/releases-following,$(filter $(releases_following),$(releases_parts))) \
    $(call unit,tools/releases-fetching, \
      $(filter-out $(releases_core) $(releases_following),$(releases_parts)))
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^

$(releases_program): $(call unit,tools/agent-releases,$(releases_program_parts)) \
    $(releases_library) $(base_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -Wl,--as-needed $(releases_libraries) $(LDLIBS)

tool_programs += $(releases_program)
tool_libraries += $(releases_library)
tool_headers += $(releases_headers)

# ---- tests of agent-releases and libagent-releases

releases_files := $(wildcard tests/together/releases/*_test.cc)
releases_walk := tests/together/releases/choice_test.cc
releases_unit_tests := $(releases_files:%.cc=$(BUILD)/%)
$(BUILD)/objects/units/tests/together/releases/%.o $(BUILD)/objects/tests/together/releases/%.o: \
  CXXFLAGS += -O0
# choice_test.cc tests the choice of the next release (core/choice.h) for every combination of
# present, desired, running and failed releases. Compiled without optimization, the test would take
# half a minute of processor time.
$(call objects,$(releases_walk)): CXXFLAGS += -O1
# All tests of agent-releases named *_test.cc are linked into one program, which is called `wing`.
# One of these tests, replay_test, runs without a fuzzer: it passes the inputs of the fuzzer's
# corpus, inputs.txt, to the tested code.
$(call wing,together/releases/wing,$(releases_files))
$(BUILD)/tests/together/releases/wing: $(call objects,$(releases_walk)) \
    $(call unit,tests/together/releases/wing,$(filter-out $(releases_walk),$(releases_files)) \
    tests/support/inputs.cc) \
    $(call objects,tests/support/source_directory.cc) $(catch_main) $(releases_library)
	$(link_wing) -Wl,--as-needed $(releases_libraries)
releases_judge := $(BUILD)/tests/together/releases/judge_signature
$(releases_judge): $(BUILD)/%: $(BUILD)/objects/%.o $(releases_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -Wl,--as-needed $(releases_libraries)

releases_plays := $(addprefix tests/together/releases/, \
  kills faults crash page fetch archives keeping attempts add minisign sample pack)
releases_test_programs := $(releases_judge) $(BUILD)/tests/adversity/crash/careless.so
tool_tests += $(releases_unit_tests) $(releases_plays)
slow_tests += $(BUILD)/tests/together/releases/choice_test tests/together/releases/page
check-built: $(releases_unit_tests) $(releases_test_programs)
sanitized_tests += $(releases_unit_tests) $(filter-out %/kills,$(releases_plays))
sanitized_programs += $(releases_program) $(releases_test_programs)

# ---- targets for checks that take long

releases_packages = $(build_packages) $(tool_packages) python3 strace clang-14 libclang-rt-14-dev
releases_built := $(releases_program) $(releases_test_programs)

.PHONY: crash-releases bench-releases endurance-releases check-projects
# check-projects packs projects of Node.js and Python with the real npm and pip, which takes half a
# minute of processor time. With NETWORK=1, it also packs a package of npm's registry.
check-projects:
	@tests/need-packages $(releases_packages) nodejs $(npm_package) python3-pip
	@$(MAKE) $(jobs) --no-print-directory $(releases_program)
	@BUILD=$(BUILD) NETWORK=$(NETWORK) tests/together/releases/projects

# crash-releases kills every command at every system call, and checks every state of the disk that a
# power cut may leave behind.
crash-releases:
	@tests/need-packages $(releases_packages)
	@$(MAKE) $(jobs) --no-print-directory $(releases_built)
	@BUILD=$(BUILD) EVERY=1 LONG=$(LONG) tests/together/releases/kills
	@BUILD=$(BUILD) EVERY=1 tests/together/releases/faults
	@BUILD=$(BUILD) ALL=1 ONLY=$(ONLY) tests/together/releases/crash

# bench-releases measures how long agent-releases takes to add a release of 200 MB over http. For
# comparison, it measures curl, sha256sum and sync with the same file in the same run.
bench-releases:
	@tests/need-packages $(releases_packages)
	@$(MAKE) $(jobs) --no-print-directory $(releases_program)
	@BUILD=$(BUILD) tests/together/releases/bench

# endurance-releases adds and removes a release 10,000 times, or N times with ROUNDS=N, and checks
# that no file is left behind.
endurance-releases:
	@tests/need-packages $(releases_packages)
	@$(MAKE) $(jobs) --no-print-directory $(releases_program)
	@BUILD=$(BUILD) ROUNDS=$(ROUNDS) tests/together/releases/endurance

# fuzz-releases runs libFuzzer, built by clang, on all code that parses bytes from untrusted
# sources. SECONDS=N is the time for each kind of input. `make keep-fuzzed-releases` adds the inputs
# that libFuzzer has found to tests/together/releases/inputs.txt.
releases_fuzzed := $(patsubst %.cc,$(BUILD)/fuzz/objects/%.o,$(base_text_parts) base/moment.cc \
  $(filter-out %/follower.cc %/follower_work.cc %/self_test.cc, \
  $(releases_parts)) tests/together/releases/fuzzer.cc)
$(BUILD)/tests/together/releases/fuzzer: $(releases_fuzzed)
	@mkdir -p $(@D)
	clang++-14 $(fuzz_sanitizers) -fsanitize=fuzzer -o $@ $^ $(releases_libraries)

.PHONY: fuzz-releases
fuzz-releases:
	@tests/need-packages $(releases_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/together/releases/fuzzer
	@mkdir -p $(BUILD)/fuzz/releases
	@tests/together/releases/fuzz --seeds $(BUILD)/fuzz/releases
	@tests/together/releases/fuzz $(BUILD) $(SECONDS)

.PHONY: keep-fuzzed-releases
keep-fuzzed-releases: $(BUILD)/tests/together/releases/fuzzer
	@rm -rf $(BUILD)/fuzz/kept
	@mkdir -p $(BUILD)/fuzz/kept/all $(BUILD)/fuzz/releases
	@tests/adversity/fuzz/inputs.py unpack tests/together/releases/inputs.txt $(BUILD)/fuzz/releases
	@for kind in 0 1 2 3 4 5; do \
	  mkdir $(BUILD)/fuzz/kept/$$kind && FUZZ_TARGET=$$kind $(BUILD)/tests/together/releases/fuzzer \
	    -set_cover_merge=1 -use_counters=0 -max_len=16384 $(BUILD)/fuzz/kept/$$kind \
	    $(BUILD)/fuzz/releases $(wildcard $(BUILD)/fuzz/releases-grown/*) || exit 1; done
	@tests/together/releases/fuzz --seeds $(BUILD)/fuzz/kept/all
	@for kind in 0 1 2 3 4 5; do cp $(BUILD)/fuzz/kept/$$kind/* $(BUILD)/fuzz/kept/all; done
	@tests/adversity/fuzz/inputs.py pack tests/together/releases/inputs.txt $(BUILD)/fuzz/kept/all
