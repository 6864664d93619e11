# make simulate: runs the upgrader's real event loop, supervisor, session and codec on a simulated
# machine.

simulation_directory := tests/together/simulation
simulation_calls := read write close ioctl clock_gettime epoll_wait signalfd sendto
simulation_wraps := $(foreach call,$(simulation_calls),-Wl,--wrap=$(call))

# The object files of the upgrader's event loop, compiled with seat.h. This header puts the judge of
# the simulation between the loop and its supervisor.
ifdef SINGLE
seated := $(upgrader_loop:%.cc=$(BUILD)/objects/seated/%.o)
else
seated := $(call unit,tests/together/simulation/seated,$(upgrader_loop))
$(seated): CPPFLAGS += -include tests/together/simulation/seat.h
endif
$(BUILD)/objects/seated/%.o: %.cc
	@mkdir -p $(@D)
	$(COMPILE) -include tests/together/simulation/seat.h -c -o $@ $<

simulation_objects := $(call objects,$(simulation_directory)/seated_loop.cc) \
  $(call unit,tests/together/simulation/simulation, \
    $(filter-out %_test.cc %/simulate.cc %/seated_loop.cc, \
    $(wildcard $(simulation_directory)/*.cc))) $(walk_support)
$(BUILD)/objects/tests/together/simulation/seated_loop.o: CXXFLAGS += -include \
  tests/together/simulation/seat.h

$(BUILD)/tests/together/simulation/simulate: $(BUILD)/objects/tests/together/simulation/simulate.o \
    $(simulation_objects) $(seated) $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) $(simulation_wraps) -o $@ $^ -pthread

layer_tests += $(BUILD)/tests/together/simulation/simulation_test
$(BUILD)/tests/together/simulation/simulation_test: \
    $(BUILD)/objects/tests/together/simulation/simulation_test.o \
    $(BUILD)/objects/tests/catch_main.o \
    $(simulation_objects) $(seated) $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) $(simulation_wraps) -o $@ $^ -pthread

# The simulations with an injected bug, one for each row of canaries.table.
simulation_canaries := $(patsubst %,$(BUILD)/canaries/%/simulate, \
  $(shell awk -F ' [|] ' '!/^\#/ { print $$1 }' tests/together/simulation/canaries.table))
$(BUILD)/canaries/%/simulate: tests/together/simulation/canaries.table \
  tests/together/simulation/build_canary \
    $(BUILD)/objects/tests/together/simulation/simulate.o $(simulation_objects) $(seated) \
    $(upgrader_library) $(protocol_library)
	@COMPILE='$(COMPILE)' LINK='$(LINK) $(simulation_wraps)' tests/together/simulation/build_canary \
	  $* $@ \
	  $(filter %.o %.a,$^)

.PHONY: simulate simulate-here
simulate:
	@tests/need-packages $(build_packages)
	@$(make_single) simulate-here
simulate-here: $(BUILD)/tests/together/simulation/simulate $(if $(SEED),,$(simulation_canaries))
	@BUILD='$(BUILD)' LONG='$(LONG)' SEED='$(SEED)' SEEDS='$(SEEDS)' TRACE='$(TRACE)' \
	  tests/together/simulation/run
