# make sanitize (V10): the tests with AddressSanitizer, UndefinedBehaviorSanitizer, LeakSanitizer.
# There is no ThreadSanitizer: upgrader, library and sample agent have one thread each.
# Short: product code is sanitized, and tested by the tests as they are built anyway, all but the
# longest. LONG=1: the tests are sanitized, too, and all are run, with those of the programs beside
# the upgrader that a .mk of theirs adds to sanitized_tests.

.PHONY: sanitize sanitize-build sanitize-run

# Set in the sanitized builds only. The product's own copies of what headers define are linked
# first, so that those are sanitized also where tests are not.
ifdef SANITIZE
HARDENING =
CXXFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined
# Each runtime would otherwise have a log of its own, and one of them none.
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
	@tests/judging/analysis/borrow $(single) $(BUILD)/sanitize
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/sanitize SINGLE=1 SANITIZE=1 sanitize-build
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize SINGLE=1 SANITIZE=1 sanitize-run
endif

# In two steps: the first is linked whole into all of the second.
sanitize-build:
	@$(MAKE) --no-print-directory $(upgrader_library) $(protocol_library) $(planted_faults)
	@$(MAKE) --no-print-directory $(BUILD)/upgrader $(filter $(BUILD)/%,$(tests_when_sanitized)) \
	  $(puppet) $(if $(filter 1,$(LONG)),samples $(sanitized_programs))

sanitize-run:
	@LONG=$(LONG) tests/judging/analysis/sanitize $(BUILD) \
	  '$(if $(filter 1,$(LONG)),all code,product code) sanitized' $(tests_when_sanitized)

tests_when_sanitized = $(tests_when_instrumented) $(if $(filter 1,$(LONG)),$(sanitized_tests))

# ---- what sanitizing and counting coverage share

# The walks through all states take minutes then, and find in the core what the others find.
directories_when_instrumented = decisions/unit decisions/scenario together/integration \
  together/regression $(if $(filter 1,$(LONG)),decisions/explore)
# Without LONG=1 no sample agent is built.
tests_of_samples = $(filter $(BUILD)/tests/together/integration/sample_%,$(integration_tests))
tests_when_instrumented = $(sort $(filter \
  $(directories_when_instrumented:%=$(BUILD)/tests/%/%), \
  $(filter-out $(if $(filter 1,$(LONG)),,$(slow_tests) $(tests_of_samples)), \
    $(unit_tests) $(integration_tests))))

# The objects of these tests, as they are.
.PHONY: instrumentable
instrumentable:
	@$(MAKE) --no-print-directory $(BUILD)/upgrader $(tests_when_instrumented) $(puppet)
