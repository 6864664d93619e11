# make coverage (V11): which branches of the product the tests take. The product is compiled anew,
# and tested by the tests as they are built anyway.

.PHONY: coverage coverage-build coverage-run

# Set in the coverage build only. Nothing is inlined, no branch is made for an exception, and only
# the product is counted, also by threads at the same time: the walks through all states have some.
# Its own copies of what headers define are linked first.
ifdef COVERAGE
HARDENING =
CXXFLAGS = -O0 -fno-exceptions --coverage -fprofile-update=atomic \
  -fprofile-filter-files='(^|/)(agent-protocol|base|upgrader)/'
coverage_dump := $(BUILD)/objects/coverage/dump.o
LDFLAGS += $(coverage_dump) $(patsubst %,-Wl$(comma)--wrap=%,_exit abort kill)
$(BUILD)/tests/%_test: LDFLAGS += -Wl,--whole-archive $(upgrader_library) $(protocol_library) \
  -Wl,--no-whole-archive -luv

$(coverage_dump): tests/judging/coverage/dump.cc
	@mkdir -p $(@D)
	$(CXX) -std=c++20 $(WARNINGS) -O2 -c -o $@ $<
	@rm -rf $(BUILD)/tests $(BUILD)/upgrader  # to be linked anew with it

# Tests of what stands in a header alone are compiled for this, too.
tests_of_headers := $(call objects,$(wildcard tests/decisions/unit/agent_cpp*_test.cc))
$(tests_of_headers): CXXFLAGS += -fexceptions
endif

# LONG=1 adds the walks through all states. Of a sample agent nothing is counted.
tests_when_counted = $(filter-out $(tests_of_samples),$(tests_when_instrumented))

coverage:
	@tests/need-packages $(check_packages) gcovr
	@$(make_single) instrumentable
	@tests/judging/analysis/borrow $(single) $(BUILD)/coverage
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/coverage SINGLE=1 COVERAGE=1 coverage-build
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage SINGLE=1 COVERAGE=1 coverage-run

# In two steps: the first is linked whole into all of the second. What does not name it there would
# keep the one before, whose counts do not go with today's.
coverage-build:
	@rm -f $(tests_of_headers)
	@$(MAKE) --no-print-directory $(coverage_dump) $(upgrader_library) $(protocol_library)
	@for library in $(upgrader_library) $(protocol_library); do \
	  find $(BUILD)/tests -name '*_test' ! -newer "$$library" -delete 2>/dev/null || :; done
	@$(MAKE) --no-print-directory $(BUILD)/upgrader $(tests_when_counted) $(puppet)

coverage-run:
	@CXX=$(CXX) tests/judging/coverage/run $(BUILD) $(tests_when_counted)
