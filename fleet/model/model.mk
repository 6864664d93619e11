# The library fleet/model has the fleet's records and decisions, without input and output. All
# programs of the fleet link this library.
build_packages += libpcre2-dev
fleet_model_libraries = -lpcre2-8

fleet_model := $(BUILD)/libfleet-model.a
fleet_model_rollouts := fleet/model/drivers.cc $(wildcard fleet/model/rollout*.cc fleet/model/n*.cc)
# The library contains the code that parses JSON, and the code of agent-releases that compares
# versions.
$(fleet_model): $(base_text) $(version_unit) \
    $(call unit,fleet/model,$(filter-out $(fleet_model_rollouts),$(wildcard fleet/model/*.cc))) \
    $(call unit,fleet/model-rollouts,$(fleet_model_rollouts))
	$(make_archive)
