# `make kill` sends signals at the steps of upgrades that run under a small init. Without LONG=1 it
# tries only a part of the steps and signals.

kill_programs := $(addprefix $(BUILD)/tests/adversity/kill/,kill_points small_init actor stand_in)
kill_objects := $(call unit,tests/adversity/kill/kill,$(filter-out %_test.cc %/main.cc \
  %/small_init.cc %/actor.cc %/stand_in.cc,$(wildcard tests/adversity/kill/*.cc)))

$(BUILD)/tests/adversity/kill/kill_points: $(BUILD)/objects/tests/adversity/kill/main.o \
  $(kill_objects) \
    $(support_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# small_init, actor and stand_in are linked statically, because a dynamic program makes many system
# calls to find its libraries. The test of each kill point (a signal at one step of an upgrade)
# starts these programs ten times under the tracer, which stops them at each system call.
kill_static = $(if $(findstring -fsanitize,$(CXXFLAGS) $(LDFLAGS)),,-static)
$(BUILD)/tests/adversity/kill/small_init $(BUILD)/tests/adversity/kill/actor \
  $(BUILD)/tests/adversity/kill/stand_in: \
    $(BUILD)/tests/adversity/kill/%: $(BUILD)/objects/tests/adversity/kill/%.o $(support_library)
	@mkdir -p $(@D)
	$(LINK) $(kill_static) -o $@ $^

# kill_test, which `make check` runs, tests a selection of the kill points.
layer_tests += $(BUILD)/tests/adversity/kill/kill_test
$(BUILD)/tests/adversity/kill/kill_test: $(BUILD)/objects/tests/adversity/kill/kill_test.o \
    $(BUILD)/objects/tests/catch_main.o $(kill_objects) $(support_library) | $(kill_programs)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

kill_packages = $(build_packages) catch2

.PHONY: kill
kill:
	@tests/need-packages $(kill_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(kill_programs)
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT INT TERM && \
	  TMPDIR=$$directory ONLY='$(ONLY)' LONG='$(LONG)' LIST='$(LIST)' \
	  $(BUILD)/tests/adversity/kill/kill_points
