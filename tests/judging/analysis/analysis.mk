# make analyze, make sanitize: find errors in the code with static analysis, and by running the
# tests with sanitizers.

# ---- make analyze

# make analyze (layer V10 in tests/INVARIANTS.md): runs static analysis on the code of the upgrader
# and of the library for agents. LONG=1 also analyzes the tests and the sample agent, with more
# tools and with the slow checks.

.PHONY: analyze analyze-here

analyze_packages = $(build_packages) clang-tidy-14 clang-14 cppcheck shellcheck binutils catch2

analyze:
	@tests/need-packages $(analyze_packages)
	@$(make_single) analyze-here
analyze-here: $(upgrader_library) $(protocol_library) $(if $(filter 1,$(LONG)),$(etcd_proto).cc)
	@tests/judging/analysis/analyze $(BUILD) $(if $(filter 1,$(LONG)),long)

# ---- make sanitize

# make sanitize (layer V10 in tests/INVARIANTS.md): runs the tests with AddressSanitizer,
# UndefinedBehaviorSanitizer and LeakSanitizer. ThreadSanitizer is not used, because the upgrader,
# the library and the sample agent have one thread each. By default, only the product is sanitized,
# and the longest tests are left out. LONG=1 also sanitizes the tests, and runs all of them, with
# those that .mk files of other programs add to `sanitized_tests`.

.PHONY: sanitize sanitize-build sanitize-run

# The settings of the sanitized builds. The product's objects are linked first. So if the product
# and a test both have a copy of a function from a header, the linker uses the product's copy, which
# is sanitized.
ifdef SANITIZE
HARDENING =
CXXFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined
# Links the runtimes of both sanitizers statically. With shared libraries, the reports of
# UndefinedBehaviorSanitizer would go to standard error, and not into the log, which the script
# `sanitize` searches.
LDFLAGS += -fsanitize=address,undefined -static-libasan -static-libubsan
$(BUILD)/tests/%_test: LDFLAGS += -Wl,--whole-archive $(upgrader_library) $(protocol_library) \
  -Wl,--no-whole-archive -luv
endif

planted_faults := $(BUILD)/tests/judging/analysis/faults
$(planted_faults): tests/judging/analysis/faults.cc
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $<

sanitize:
	@tests/need-packages $(check_packages)
ifeq ($(LONG),1)
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/sanitize-all SINGLE=1 SANITIZE=1 \
	  sanitize-build
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize-all SINGLE=1 SANITIZE=1 LONG=1 sanitize-run
else
	@$(make_single) instrumentable
	@$(call borrow_objects,$(BUILD)/sanitize)
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/sanitize SINGLE=1 SANITIZE=1 sanitize-build
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize SINGLE=1 SANITIZE=1 sanitize-run
endif

# Builds in two steps: first the libraries of the upgrader and the protocol, then the programs.
# LDFLAGS links these libraries into all tests, but make does not know this, so it would not build
# them first.
sanitize-build:
	@$(MAKE) --no-print-directory $(upgrader_library) $(protocol_library) $(planted_faults)
	@$(MAKE) --no-print-directory $(BUILD)/upgrader $(filter $(BUILD)/%,$(tests_when_sanitized)) \
	  $(puppet) $(if $(filter 1,$(LONG)),samples $(sanitized_programs))

sanitize-run:
	@LONG=$(LONG) tests/judging/analysis/sanitize $(BUILD) \
	  '$(if $(filter 1,$(LONG)),all code,product code) sanitized' $(tests_when_sanitized)

tests_when_sanitized = $(tests_when_instrumented) $(if $(filter 1,$(LONG)),$(sanitized_tests))

# ---- settings for both make sanitize and make coverage

# Without LONG=1, leaves out the explorations of all states. They would take minutes, and every
# error in the core that they find is also found by the remaining tests.
directories_when_instrumented = decisions/unit decisions/scenario together/integration \
  together/regression $(if $(filter 1,$(LONG)),decisions/explore)
# The tests that need the sample agent. Without LONG=1, the sample agent is not built, and these
# tests are left out.
tests_of_samples = $(filter $(BUILD)/tests/together/integration/sample_%,$(integration_tests))
tests_when_instrumented = $(sort $(filter \
  $(directories_when_instrumented:%=$(BUILD)/tests/%/%), \
  $(filter-out $(if $(filter 1,$(LONG)),,$(slow_tests) $(tests_of_samples)), \
    $(unit_tests) $(integration_tests))))

# Builds the upgrader and `tests_when_instrumented` as usual, without instrumentation. Later, the
# objects of these tests are linked with the instrumented product.
.PHONY: instrumentable
instrumentable:
	@$(MAKE) --no-print-directory $(BUILD)/upgrader $(tests_when_instrumented) $(puppet)

# Makes symbolic links in the instrumented build `$(1)` to the tests' objects in the plain build
# `$(single)`. So only the product must be compiled again.
borrow_objects = mkdir -p $(1)/objects && rm -rf $(1)/objects/tests && \
  cp -rs $(abspath $(single))/objects/tests $(1)/objects/tests && \
  find $(1)/objects/tests -name '*.d' -delete
