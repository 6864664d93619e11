# The library fleet/model: the fleet's records and decisions, without input and output. The stores
# and programs of the fleet link it.
build_packages += libpcre2-dev
fleet_model_libraries = -lpcre2-8

fleet_model := $(BUILD)/libfleet-model.a
fleet_model_rollouts := $(wildcard fleet/model/rollout*.cc fleet/model/n*.cc)
# It contains agent-releases' order of versions and the code that parses JSON.
$(fleet_model): $(base_text) $(version_unit) \
    $(call unit,fleet/model,$(filter-out $(fleet_model_rollouts),$(wildcard fleet/model/*.cc))) \
    $(call unit,fleet/model-rollouts,$(fleet_model_rollouts))
	$(make_archive)

# ---- the tests of the library: tests/together/fleet/NAME_test.cc

fleet_model_tests := $(patsubst %,$(BUILD)/tests/together/fleet/%_test, \
  transaction keys records target judge judge_evidence judge_verdict judge_watch batch_draft \
  rollout_draft rollout_explore rollout_simulate rollout_driver node_explore node_commander \
  retention \
  desired plan_explore plan_simulate plan_part windows window_view store_judge driver record_tree \
  history notices release_watcher identities snapshot_files)
tool_tests += $(fleet_model_tests)

$(BUILD)/objects/tests/together/fleet/%.o: CXXFLAGS += -O0
# Tests that walk through many states: these are compiled once, and for speed.
fleet_worlds := $(call objects,$(addprefix tests/together/fleet/,test_store.cc rollout_world.cc \
  rollout_judge.cc node_world.cc plan_world.cc))
judge_world := $(call objects,tests/together/fleet/judge_world.cc)
$(judge_world): CXXFLAGS += -O2
$(BUILD)/tests/together/fleet/judge_test: $(judge_world)
$(fleet_worlds) $(call objects,tests/together/fleet/rollout_explore_test.cc \
  tests/together/fleet/rollout_simulate_test.cc tests/together/fleet/node_explore_test.cc \
  tests/together/fleet/desired_test.cc tests/together/fleet/plan_explore_test.cc \
  tests/together/fleet/plan_simulate_test.cc): CXXFLAGS += -O2
$(addprefix $(BUILD)/tests/together/fleet/,$(addsuffix _test,rollout_explore rollout_simulate \
  rollout_driver node_explore judge_watch desired plan_explore plan_simulate \
  driver)): $(fleet_worlds)
$(BUILD)/tests/together/fleet/retention_test: $(call objects,tests/together/fleet/test_store.cc)
$(fleet_model_tests): $(BUILD)/%: $(BUILD)/objects/%.o $(BUILD)/objects/tests/catch_main.o \
    $(fleet_model) $(base_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(fleet_model_libraries)

# Measures how often the judge stops a good version, and how far a bad one comes, in RUNS=N
# simulated rollouts.
.PHONY: judge judge-here
judge:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $@-here
judge-here: $(BUILD)/tests/together/fleet/judge_test
	@RUNS=$(or $(RUNS),10000) $<

# Tests that walk through all states, and the targets that run them and show what was walked.
fleet_walks := $(addprefix $(BUILD)/tests/together/fleet/,rollout_explore_test node_explore_test \
  plan_explore_test)
# Runs many more random rollouts and plans: RUNS=N; with LONG=1 a million.
.PHONY: explore-fleet simulate-fleet simulate-fleet-here
explore-fleet:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $(fleet_walks)
	@for walk in $(fleet_walks); do "$$walk" || exit 1; done
simulate-fleet:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $@-here
simulate-fleet-here: export RUNS := $(or $(RUNS),$(if $(LONG),1000000,100000))
simulate-fleet-here: $(addprefix $(BUILD)/tests/together/fleet/,rollout_simulate_test \
  plan_simulate_test)
	@pids=; for program in $^; do "$$program" & pids="$$pids $$!"; done; \
	  failed=0; for pid in $$pids; do wait "$$pid" || failed=1; done; exit $$failed
