# make simulate: the real loop, supervisor, session and codec on a simulated machine.

simulation_directory := tests/simulation
simulation_calls := read write close ioctl clock_gettime signalfd
simulation_wraps := $(foreach call,$(simulation_calls),-Wl,--wrap=$(call))

# The loop with a seat for the judge between it and its supervisor.
seated := $(patsubst %,$(BUILD)/objects/seated/upgrader/%.o,loop loop_actions)
$(BUILD)/objects/seated/%.o: %.cc
	@mkdir -p $(@D)
	$(COMPILE) -include tests/simulation/seat.h -c -o $@ $<

simulation_objects := $(call objects,$(filter-out %_test.cc %/simulate.cc, \
  $(wildcard $(simulation_directory)/*.cc)))
$(BUILD)/objects/tests/simulation/seated_loop.o: CXXFLAGS += -include tests/simulation/seat.h

$(BUILD)/tests/simulation/simulate: $(BUILD)/objects/tests/simulation/simulate.o \
    $(simulation_objects) $(seated) $(support_library) $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) $(simulation_wraps) -o $@ $^
