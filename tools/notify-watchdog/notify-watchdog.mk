# Builds notify-watchdog, which feeds a hardware watchdog for a program that notifies as
# sd_notify(3) does. It needs only the C library, and the headers of libstdc++.
tool_programs += $(BUILD)/notify-watchdog
notify_watchdog_library := $(BUILD)/libnotify-watchdog.a
notify_watchdog_objects := $(call unit,tools/notify-watchdog,$(filter-out \
  tools/notify-watchdog/main.cc,$(wildcard tools/notify-watchdog/*.cc)))
$(notify_watchdog_library): $(notify_watchdog_objects); $(make_archive)

$(BUILD)/notify-watchdog: $(BUILD)/objects/tools/notify-watchdog/main.o \
    $(notify_watchdog_library) $(base_library)
	$(LINK) -o $@ $^

# ---- tests of notify-watchdog

notify_watchdog_units := $(patsubst %.cc,$(BUILD)/%, \
  $(wildcard tests/together/notify-watchdog/*_test.cc))
$(BUILD)/objects/tests/together/notify-watchdog/%.o: CXXFLAGS += -O0
$(notify_watchdog_units): $(BUILD)/tests/together/notify-watchdog/%: \
    $(BUILD)/objects/tests/together/notify-watchdog/%.o $(BUILD)/objects/tests/catch_main.o \
    $(notify_watchdog_library) $(base_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# Tests with a FIFO instead of the device, with a program of the test and with the real upgrader.
notify_watchdog_plays := $(addprefix tests/together/notify-watchdog/,play upgraders_play)
tool_tests += $(notify_watchdog_units) $(notify_watchdog_plays)
tool_packages += python3
sanitized_tests += $(notify_watchdog_units) $(notify_watchdog_plays)
sanitized_programs += $(BUILD)/notify-watchdog
