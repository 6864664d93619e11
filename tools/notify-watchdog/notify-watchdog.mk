# Builds notify-watchdog, which feeds a hardware watchdog for a program that sends notifications as
# in sd_notify(3). At run time it needs only the C library. Of libstdc++ it uses only headers.
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

# A test with a FIFO in place of the device. The watched program is a small test program or the real
# upgrader.
notify_watchdog_plays := tests/together/notify-watchdog/play
tool_tests += $(notify_watchdog_units) $(notify_watchdog_plays)
tool_packages += python3 strace
sanitized_tests += $(notify_watchdog_units) $(notify_watchdog_plays)
sanitized_programs += $(BUILD)/notify-watchdog
