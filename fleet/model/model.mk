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
  transaction keys records target rollout_draft rollout_explore rollout_simulate \
  rollout_driver node_explore node_commander \
  desired plan_explore plan_part windows window_view store_judge driver record_tree \
  history release_watcher identities snapshot_files)
node_tests += $(fleet_model_tests)

$(BUILD)/objects/tests/fleet/%.o: CXXFLAGS += -O0
# Those that walk are compiled once for many steps.
fleet_worlds := $(call objects,$(addprefix tests/fleet/,test_store.cc rollout_world.cc \
  rollout_judge.cc node_world.cc plan_world.cc))
$(fleet_worlds) $(call objects,tests/fleet/rollout_explore_test.cc \
  tests/fleet/rollout_simulate_test.cc tests/fleet/node_explore_test.cc \
  tests/fleet/desired_test.cc tests/fleet/plan_explore_test.cc): CXXFLAGS += -O1
$(addprefix $(BUILD)/tests/fleet/,$(addsuffix _test,rollout_explore rollout_simulate \
  rollout_driver node_explore desired plan_explore \
  driver)): $(fleet_worlds)
$(fleet_model_tests): $(BUILD)/%: $(BUILD)/objects/%.o $(BUILD)/objects/tests/catch_main.o \
    $(fleet_model)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter %.o,$^) $(fleet_model) $(fleet_model_libraries)

# Random rollouts, many more of them: RUNS=N.
.PHONY: simulate-fleet
simulate-fleet:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/tests/fleet/rollout_simulate_test
	@RUNS=$(or $(RUNS),100000) $(BUILD)/tests/fleet/rollout_simulate_test
