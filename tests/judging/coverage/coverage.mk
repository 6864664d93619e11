# make coverage (layer V11 in tests/INVARIANTS.md): counts which branches of the product the tests
# take. Only the product is compiled anew, and is linked with the tests' usual objects.

.PHONY: coverage coverage-build coverage-run

# The settings of the coverage build. Only the product's branches are counted, and only those that
# the source shows: the compiler inlines nothing, and makes no branches for exceptions. The counters
# are atomic, because some explorations of all states have several threads. The product's objects
# are linked first. So if the product and a test both have a copy of a function from a header, the
# linker uses the product's copy, which is counted.
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
	# Deletes all programs, since make does not know that they contain dump.o.
	@rm -rf $(BUILD)/tests $(BUILD)/upgrader

# The branches of a header are counted in the objects that include it. The agent's C++ interface is
# only a header, so the test that includes it must be compiled for coverage, too.
test_of_header := $(call objects,tests/decisions/unit/agent_cpp_test.cc)
$(test_of_header): CXXFLAGS += -fexceptions
endif

# The tests whose branches are counted. LONG=1 adds the explorations of all states. Tests of the
# sample agent are left out.
tests_when_counted = $(filter-out $(tests_of_samples),$(tests_when_instrumented))

coverage:
	@tests/need-packages $(check_packages) gcovr
	@$(make_single) instrumentable
	@$(call borrow_objects,$(BUILD)/coverage)
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/coverage SINGLE=1 COVERAGE=1 coverage-build
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage SINGLE=1 COVERAGE=1 coverage-run

# Builds the libraries first, and then deletes every test program that is older than a library. make
# would not link such a program again, since it does not know that LDFLAGS links the libraries into
# all tests. The counts of a program with the library's old code would not match the new code.
coverage-build:
	@rm -f $(test_of_header)
	@$(MAKE) --no-print-directory $(coverage_dump) $(upgrader_library) $(protocol_library)
	@for library in $(upgrader_library) $(protocol_library); do \
	  find $(BUILD)/tests -name '*_test' ! -newer "$$library" -delete 2>/dev/null || :; done
	@$(MAKE) --no-print-directory $(BUILD)/upgrader $(tests_when_counted) $(puppet)

coverage-run:
	@CXX=$(CXX) tests/judging/coverage/run $(BUILD) $(tests_when_counted)
