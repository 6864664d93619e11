# fleet-signer, which has the authority's key and signs certificates.
fleet_signer_parts := $(filter-out fleet/signer/main.cc,$(wildcard fleet/signer/*.cc))
fleet_signer_library := $(BUILD)/libfleet-signer.a
$(fleet_signer_library): $(call unit,fleet/signer,$(fleet_signer_parts)); $(make_archive)

$(BUILD)/fleet-signer: $(call objects,fleet/signer/main.cc) $(fleet_signer_library) \
    $(fleet_agent_libraries)
	$(link_fleet_agent)
