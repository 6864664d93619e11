# Builds upgraderctl, the tool for operators. It uses libuv for its event loop, cereal for JSON, and
# CLI11 for the command line.
tool_programs += $(BUILD)/upgraderctl
build_packages += libcli11-dev

upgraderctl_objects := \
  $(call unit,tools/upgraderctl,$(wildcard tools/upgraderctl/core/*.cc)) \
  $(call unit,tools/upgraderctl-shell,$(wildcard tools/upgraderctl/shell/*.cc))
upgraderctl_library := $(BUILD)/libupgraderctl.a
$(upgraderctl_library): $(upgraderctl_objects); $(make_archive)

$(BUILD)/upgraderctl: $(BUILD)/objects/tools/upgraderctl/main.o $(upgraderctl_library) \
    $(control_library) $(base_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -Wl,--as-needed -luv $(LDLIBS)

# ---- tests of upgraderctl: unit tests, and tests with a real or a fake upgrader

upgraderctl_tests := $(patsubst %.cc,$(BUILD)/%,$(wildcard tests/together/upgraderctl/*_test.cc))
tool_tests += $(upgraderctl_tests) \
  $(addprefix tests/together/upgraderctl/,run real page completion)
slow_tests += tests/together/upgraderctl/run

upgraderctl_files := $(wildcard tests/together/upgraderctl/*_test.cc)
upgraderctl_walk := tests/together/upgraderctl/explore_test.cc
$(BUILD)/objects/units/tests/together/upgraderctl/%.o \
  $(BUILD)/objects/tests/together/upgraderctl/%.o: CXXFLAGS += -O0
# explore_test.cc visits every state of the class Conversation (core/conversation.h), which is slow
# without compiler optimization.
$(call objects,$(upgraderctl_walk)): CXXFLAGS += -O1
$(call wing,together/upgraderctl/wing,$(upgraderctl_files))
$(BUILD)/tests/together/upgraderctl/wing: $(call objects,$(upgraderctl_walk)) \
    $(call unit,tests/together/upgraderctl/wing, \
    $(filter-out $(upgraderctl_walk),$(upgraderctl_files))) $(catch_main) \
    $(upgraderctl_library) $(control_library) $(base_library) $(protocol_library)
	$(link_wing) -luv

# make check-recipes: runs the commands that docs/small-machines.md gives for boot counters, with
# the real programs of U-Boot, RAUC, Mender, SWUpdate and systemd-boot. Needs root.
.PHONY: check-recipes
check-recipes:
	@tests/need-packages $(build_packages) python3 u-boot-tools libubootenv-tool rauc dbus \
	  mender-client mender-artifact swupdate cpio openssl systemd-boot
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/upgraderctl
	@BUILD=$(BUILD) tests/together/upgraderctl/recipes
