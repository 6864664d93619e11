# The library fleet/model contains the fleet's records and decisions, without input and output. All
# programs of the fleet link this library.
build_packages += libpcre2-dev
fleet_model_libraries = -lpcre2-8

fleet_model := $(BUILD)/libfleet-model.a
fleet_model_in = $(foreach folder,$(1),$(wildcard fleet/model/$(folder)/*.cc))
# The library contains the code that parses JSON, and the code of agent-releases that compares
# versions.
$(fleet_model): $(base_text) $(version_unit) \
    $(call unit,fleet/model,$(call fleet_model_in,records agent signer history releases nodes)) \
    $(call unit,fleet/model-runs,$(call fleet_model_in,rollouts plans desired drivers reasons))
	$(make_archive)
