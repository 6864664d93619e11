# What needs all of the fleet's programs together. It is read before the programs' own: of their
# lists only recipes can know.
fleet_programs := $(addprefix $(BUILD)/,fleet-agent fleet-controller fleetctl)
node_programs += $(fleet_programs)

# A fleet of six machines, to be watched: tests/demo/fleet.
.PHONY: fleet-demo fleet-demo-here
fleet-demo:
	@tests/need-packages $(fleet_check_packages)
	@$(MAKE) $(jobs) --no-print-directory fleet-demo-here
fleet-demo-here: $(BUILD)/upgrader $(BUILD)/agentify $(fleet_programs) \
    $(addprefix $(BUILD)/tests/fleet/agents/,1.0.0 1.1.0)
	@BUILD=$(BUILD) tests/demo/fleet
