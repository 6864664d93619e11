# The sample agent, and its variants: the same objects but for variant.o.
# A variant is $(BUILD)/sample-agent/variants/NAME; NAME is VERSION[-FAULT], and the version's first
# number decides which format of the position it knows.

sample_parts := $(filter-out sample-agent/main.cc sample-agent/variant.cc,$(wildcard sample-agent/*.cc))
sample_library := $(BUILD)/libsample-agent.a
sample_agent := $(BUILD)/sample-agent/sample-agent

sample_variants := 1.0.0 2.0.0 3.0.0-crash_at_start 4.0.0-hang_at_start 5.0.0-crash_on_trial 6.0.0 \
  7.0.0 1.0.1-slow_to_stop 1.0.2-never_stops 1.0.3-writes_too_early
sample_variant_files := $(sample_variants:%=$(BUILD)/sample-agent/variants/%)

# 1 up to version 1.x, 2 from 2.0.0 on.
position_format = $(if $(filter 1,$(firstword $(subst ., ,$(1)))),1,2)

$(sample_library): $(sample_parts:%.cc=$(BUILD)/%.o)
	@rm -f $@
	ar rcs $@ $^

$(sample_agent): $(BUILD)/sample-agent/main.o $(BUILD)/sample-agent/variant.o $(sample_library) \
  $(protocol_library)
	$(LINK) -o $@ $^ -luv

$(BUILD)/sample-agent/variants/%.o: sample-agent/variant.cc
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $< \
	  -DSAMPLE_AGENT_VERSION='$(subst .,$(comma) ,$(firstword $(subst -, ,$*)))' \
	  -DSAMPLE_AGENT_FAULT=$(or $(word 2,$(subst -, ,$*)),none) \
	  -DSAMPLE_AGENT_POSITION_FORMAT=$(call position_format,$*)

comma := ,

$(BUILD)/sample-agent/variants/%: $(BUILD)/sample-agent/variants/%.o \
  $(BUILD)/sample-agent/main.o $(sample_library) $(protocol_library)
	$(LINK) -o $@ $^ -luv
