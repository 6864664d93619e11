# upgraderctl: an operator's hands and eyes. libuv waits, cereal reads and writes, CLI11 takes the
# command line apart.
node_programs += $(BUILD)/upgraderctl
build_packages += libcli11-dev

# The fleet's programs have a use for all but the shell.
upgraderctl_objects := \
  $(call unit,node/upgraderctl,$(wildcard $(addprefix node/upgraderctl/,wire/*.cc core/*.cc))) \
  $(call unit,node/upgraderctl-shell,$(wildcard node/upgraderctl/shell/*.cc))
upgraderctl_library := $(BUILD)/libupgraderctl.a
$(upgraderctl_library): $(upgraderctl_objects); $(make_archive)

$(BUILD)/upgraderctl: $(BUILD)/objects/node/upgraderctl/main.o $(upgraderctl_library) \
    $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -Wl,--as-needed -luv

# ---- its tests: tests/upgraderctl/NAME_test.cc, and what it does beside an upgrader, or a double

upgraderctl_tests := $(patsubst %.cc,$(BUILD)/%,$(wildcard tests/upgraderctl/*_test.cc))
node_tests += $(upgraderctl_tests) \
  $(addprefix tests/upgraderctl/,run real page completion)
slow_tests += tests/upgraderctl/run

$(BUILD)/objects/tests/upgraderctl/%.o: CXXFLAGS += -O0
$(BUILD)/tests/upgraderctl/%_test: $(BUILD)/objects/tests/upgraderctl/%_test.o \
    $(BUILD)/objects/tests/catch_main.o $(upgraderctl_library) $(upgrader_library) \
    $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -luv
# It walks, and is compiled once for many steps.
$(BUILD)/objects/tests/upgraderctl/explore_test.o: CXXFLAGS += -O1
