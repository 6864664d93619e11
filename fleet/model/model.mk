# The library fleet/model: the fleet's records and decisions, without input and output. The stores
# and programs of the fleet link it.
build_packages += libpcre2-dev
fleet_model_libraries = -lpcre2-8

fleet_model := $(BUILD)/libfleet-model.a
fleet_model_rollouts := fleet/model/drivers.cc $(wildcard fleet/model/rollout*.cc fleet/model/n*.cc)
# The library includes the code of agent-releases that compares versions, and the code that parses
# JSON.
$(fleet_model): $(base_text) $(version_unit) \
    $(call unit,fleet/model,$(filter-out $(fleet_model_rollouts),$(wildcard fleet/model/*.cc))) \
    $(call unit,fleet/model-rollouts,$(fleet_model_rollouts))
	$(make_archive)
