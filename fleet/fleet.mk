# Defines targets that need all of the fleet's programs. Make reads this file before those programs'
# makefiles, so their variables work in recipes here, but not in lists of prerequisites.
fleet_programs := $(addprefix $(BUILD)/,fleet-agent fleet-controller fleet-signer fleetctl)
tool_programs += $(fleet_programs)
# The library of fakes that tests use in place of etcd and the clock.
fleet_doubles := $(BUILD)/tests/libfleet-doubles.a

# Runs a fleet of six machines as a demonstration for a person: see tests/demo/fleet.
.PHONY: fleet-demo fleet-demo-here
fleet-demo:
	@tests/need-packages $(fleet_check_packages)
	@$(MAKE) $(jobs) --no-print-directory fleet-demo-here
fleet-demo-here: $(addprefix $(BUILD)/,upgrader agentify agent-releases) $(fleet_programs)
	@BUILD=$(BUILD) tests/demo/fleet

# Measures the cost of a rollout with 10, 100 and 1,000 nodes; NODES="N N" sets other numbers. Also
# measures how soon another controller continues a rollout whose controller was killed, TIMES=N
# times.
#
# With CELL=1, measures a whole cell with NODES=N nodes instead, partly during REST=SECONDS in which
# nothing happens. One process simulates at most 1,000 nodes. fleet/SCALE.md has the results.
fleet_bench := $(BUILD)/tests/together/fleet/bench
.PHONY: bench-fleet bench-fleet-here
bench-fleet:
	@tests/need-packages $(fleet_check_packages)
	@$(MAKE) $(jobs) --no-print-directory bench-fleet-here
bench-fleet-here: $(fleet_bench) $(fleet_programs)
	@ulimit -n "$$(ulimit -H -n)"; $(fleet_bench) $(BUILD) $(if $(CELL), \
	  cell $(or $(REST),60) $(or $(NODES),1000),$(or $(NODES),10 100 1000))
	@$(if $(CELL),,BUILD=$(BUILD) tests/together/fleet/adoption $(or $(TIMES),10))

# fleet-kill runs rollouts, and after random transactions kills fleet-agents and the controllers
# that drive the rollouts. KILLS=N sets the number of kills, and SEED=N the random choice.
# fleet-hour does the same for SECONDS=N (by default an hour), and also kills members of an etcd
# cluster of three.
.PHONY: fleet-kill fleet-hour fleet-kill-here fleet-hour-here
fleet-kill fleet-hour:
	@tests/need-packages $(fleet_check_packages)
	@$(MAKE) $(jobs) --no-print-directory $@-here
fleet-kill-here: export KILLS := $(or $(KILLS),1000)
fleet-hour-here: export SECONDS := $(or $(SECONDS),3600)
fleet-kill-here fleet-hour-here: $(addprefix $(BUILD)/,upgrader agentify agent-releases) \
    $(fleet_programs) \
    $(BUILD)/tests/together/fleet/agents/1.0.0
	@BUILD=$(BUILD) SEED=$(or $(SEED),1) tests/together/fleet/kills
