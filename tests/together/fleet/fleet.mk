# The tests of the fleet's C++ code: tests/together/fleet/NAME_test.cc. `make fleet-check` runs the
# tests that need real members of etcd, and `make check` runs all others.

fleet_tests := $(addprefix $(BUILD)/tests/together/fleet/,store_fake_test) \
  $(patsubst %.cc,$(BUILD)/%,$(filter-out %/store_faults_test.cc, \
    $(wildcard tests/together/fleet/*_test.cc)))
tool_tests += $(fleet_tests) tests/together/fleet/streams

fleet_test_files = $(patsubst %,tests/together/fleet/%.cc,$(1))
fleet_test_unit = $(call unit,tests/together/fleet/$(1),$(call fleet_test_files,$(2)))
$(BUILD)/objects/tests/together/fleet/%.o $(BUILD)/objects/units/tests/together/fleet/%.o: \
  CXXFLAGS += -O0
# The fake etcd, and the simulated worlds of the explorations. Tests make very many steps with the
# fake and the worlds, so these are compiled with optimization, and only once for all tests.
fleet_double_unit := $(call fleet_test_unit,doubles,fake_store)
fleet_world_unit := $(call fleet_test_unit,worlds,test_store rollout_world rollout_judge \
  plan_world judge_world)
$(fleet_double_unit) $(fleet_world_unit): CXXFLAGS += -O1
$(fleet_doubles): $(fleet_double_unit); $(make_archive)
fleet_worlds := $(BUILD)/tests/libfleet-worlds.a
$(fleet_worlds): $(fleet_world_unit); $(make_archive)

# ---- tests that try all orders of events, or make many random steps: compiled with optimization

fleet_walk_tests := rollout_explore_test node_explore_test plan_explore_test \
  rollout_simulate_test plan_simulate_test rollout_driver_test rollout_left_test driver_test \
  desired_test judge_test judge_watch_test judge_health_test budgets_simulate_test undo_scale_test
long_tests += $(BUILD)/tests/together/fleet/rollout_explore_test
fleet_walk_unit := $(call fleet_test_unit,walks,$(fleet_walk_tests))
$(fleet_walk_unit): CXXFLAGS += -O1
$(call wing,together/fleet/walks,$(call fleet_test_files,$(fleet_walk_tests)))
$(BUILD)/tests/together/fleet/walks: $(fleet_walk_unit) $(catch_main) $(fleet_worlds) \
    $(fleet_model) $(base_library)
	$(link_wing) $(fleet_model_libraries)

# ---- the simulated day and the random records: `make check` runs a small part of these tests, and
# targets of their own run all of them

fleet_day := $(BUILD)/tests/together/fleet/day_test
fleet_day_unit := $(call fleet_test_unit,day,day_machine day_test)
fleet_fuzz := $(BUILD)/tests/together/fleet/fuzz_records_test
fleet_fuzz_unit := $(call fleet_test_unit,records,record_maker record_world record_programs \
  fuzz_records_test)
$(fleet_day_unit) $(fleet_fuzz_unit): CXXFLAGS += -O1
# If sanitizers are used, the test's link command may name the upgrader's library. So this library
# must be built before the test: see analysis.mk.
ifdef SANITIZE
$(fleet_fuzz): | $(upgrader_library)
endif
$(fleet_day): $(fleet_day_unit) $(catch_main) $(fleet_doubles) $(fleet_controller_library) \
    $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries)
$(fleet_fuzz): $(fleet_fuzz_unit) $(catch_main) $(fleet_worlds) \
    $(fleet_doubles) $(fleetctl_library) $(fleet_cell) $(fleet_controller_library) \
    $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries) -lpthread

# ---- tests of the store's contract, and tests with real members of etcd and with faults

store_contract = $(call fleet_test_unit,store_$(1),store_contract store_bed $(1)_bed)
etcd_members := $(call objects,$(call fleet_test_files,etcd_cluster))
etcd_tests := $(addprefix $(BUILD)/tests/together/fleet/store_,etcd_test faults_test)
register_play := $(call objects,tests/together/fleet/register_play.cc)
$(BUILD)/tests/together/fleet/store_fake_test: $(call store_contract,fake)
$(BUILD)/tests/together/fleet/store_etcd_test: $(call store_contract,etcd) $(etcd_members)
$(BUILD)/tests/together/fleet/store_faults_test: $(register_play) $(etcd_members) \
  $(call objects,$(call fleet_test_files,store_faults_test))
$(BUILD)/tests/together/fleet/store_fake_test $(etcd_tests): $(catch_main) \
    $(fleet_doubles) $(fleet_store) $(fleet_model) $(base_library) $(protocol_library)
	$(link_wing) $(fleet_store_libraries) -lpthread
fleet-check-here: $(etcd_tests) $(fleet_programs) \
  $(addprefix $(BUILD)/,upgrader agentify agent-releases upgraderctl)

# ---- the program of `make bench-fleet`

$(fleet_bench): $(call objects,$(call fleet_test_files,bench bench_crowd sim_node)) \
    $(etcd_members) \
    $(addprefix $(BUILD)/,libfleet-agent.a libfleet-common.a libfleet-store.a libfleet-model.a) \
    $(control_library) $(base_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) -Wl,--as-needed -lcurl -lssl -lcrypto \
	  -lprotobuf-lite -luv -lpcre2-8 -lpthread

# ---- all other tests of the fleet, in one program

fleet_other_tests := $(filter-out $(fleet_walk_tests) day_test fuzz_records_test store_fake_test, \
  $(notdir $(fleet_tests)))
fleet_early_tests := $(filter $(notdir $(basename $(wildcard tests/together/fleet/[a-i]*.cc))), \
  $(fleet_other_tests))
fleet_late_tests := $(filter-out $(fleet_early_tests),$(fleet_other_tests))
$(call wing,together/fleet/wing,$(call fleet_test_files,$(fleet_other_tests)))
$(BUILD)/tests/together/fleet/wing: $(call fleet_test_unit,early,$(fleet_early_tests)) \
    $(call fleet_test_unit,late,$(fleet_late_tests)) $(register_play) \
    $(catch_main) $(fleet_worlds) $(fleet_doubles) $(fleetctl_library) $(fleet_cell) \
    $(fleet_controller_library) $(BUILD)/libfleet-http.a $(fleet_agent_libraries)
	$(link_fleet_agent) $(fleet_http_libraries) -lpthread

# ---- targets that people call

# Measures, in RUNS=N simulated rollouts, how often the judge stops a good version, and how many
# nodes a bad version reaches before it is stopped. (The judge compares nodes with the new version
# and nodes with the old one.) Also measures how long it takes to undo a rollout over NODES=N
# simulated nodes.
.PHONY: judge judge-here
judge:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $@-here
judge-here: $(addprefix $(BUILD)/tests/together/fleet/,judge_test undo_scale_test)
	@RUNS=$(or $(RUNS),10000) $<
	@NODES=$(or $(NODES),10000) $(BUILD)/tests/together/fleet/undo_scale_test

# Tests that visit every possible state of a small simulation (explorations). `make explore-fleet`
# runs them and prints their figures.
fleet_walks := $(addprefix $(BUILD)/tests/together/fleet/,rollout_explore_test node_explore_test \
  plan_explore_test)
# simulate-fleet runs many more random rollouts and plans than `make check` does: RUNS=N of them, or
# a million with LONG=1.
.PHONY: explore-fleet simulate-fleet simulate-fleet-here simulate-fleet-day fuzz-records \
  fuzz-records-here
explore-fleet:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $(fleet_walks)
	@for walk in $(fleet_walks); do "$$walk" || exit 1; done
simulate-fleet:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $@-here
simulate-fleet-here: export RUNS := $(or $(RUNS),$(if $(LONG),1000000,100000))
simulate-fleet-here: $(addprefix $(BUILD)/tests/together/fleet/,rollout_simulate_test \
  plan_simulate_test budgets_simulate_test)
	@pids=; for program in $^; do "$$program" & pids="$$pids $$!"; done; \
	  failed=0; for pid in $$pids; do wait "$$pid" || failed=1; done; exit $$failed
# `make check` simulates only a part of a day of rollouts. simulate-fleet-day simulates a whole day,
# or as many hours as HOURS=N says. SEED=N repeats a run.
simulate-fleet-day:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $(fleet_day)
	@HOURS=$(or $(HOURS),24) SEED=$(or $(SEED),1) $(fleet_day)
# fuzz-records runs all code that reads records, with sanitizers, on random records. SECONDS=N
# limits the time, and SEED=N sets the first seed.
fuzz-records:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory BUILD=$(BUILD)/sanitize-all SANITIZE=1 fuzz-records-here
fuzz-records-here: $(fleet_fuzz)
	@SECONDS=$(SECONDS) SEED=$(or $(SEED),1) $(fleet_fuzz)
