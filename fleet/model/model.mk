# The fleet's records and decisions, as a library without input and output: fleet/model. The stores
# and programs of the fleet link it.
build_packages += libpcre2-dev
fleet_model_libraries = -lpcre2-8

fleet_model := $(BUILD)/libfleet-model.a
# With what takes JSON apart, as agent-releases has it.
$(fleet_model): $(call objects,$(wildcard fleet/model/*.cc) \
  $(addprefix agent-protocol/wire/,json_line.cc escape.cc utf8.cc)); $(make_archive)

# ---- its tests: tests/fleet/NAME_test.cc

fleet_model_tests := $(patsubst %,$(BUILD)/tests/fleet/%_test, \
  transaction keys records target rollout_draft)
node_tests += $(fleet_model_tests)

$(BUILD)/objects/tests/fleet/%.o: CXXFLAGS += -O0
$(fleet_model_tests): $(BUILD)/%: $(BUILD)/objects/%.o $(BUILD)/objects/tests/catch_main.o \
    $(fleet_model)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(fleet_model_libraries)
