# make kill: an upgrade struck at every step, under a small init.

kill_programs := $(addprefix $(BUILD)/tests/kill/,kill_points small_init actor stand_in)
kill_objects := $(call objects,$(filter-out %_test.cc tests/kill/main.cc tests/kill/small_init.cc \
  tests/kill/actor.cc tests/kill/stand_in.cc,$(wildcard tests/kill/*.cc)))

$(BUILD)/tests/kill/kill_points: $(BUILD)/objects/tests/kill/main.o $(kill_objects) \
    $(support_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# Started ten times a point, and traced: nothing is to be looked for at their start.
kill_static = $(if $(findstring -fsanitize,$(CXXFLAGS) $(LDFLAGS)),,-static)
$(BUILD)/tests/kill/small_init $(BUILD)/tests/kill/actor $(BUILD)/tests/kill/stand_in: \
    $(BUILD)/tests/kill/%: $(BUILD)/objects/tests/kill/%.o $(support_library)
	@mkdir -p $(@D)
	$(LINK) $(kill_static) -o $@ $^

# A selection of the points for make check.
layer_tests += $(BUILD)/tests/kill/kill_test
$(BUILD)/tests/kill/kill_test: $(BUILD)/objects/tests/kill/kill_test.o \
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
	  $(BUILD)/tests/kill/kill_points
