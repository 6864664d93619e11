# Builds the sample agent and its variants, which differ only in variant.o. A variant is the program
# $(BUILD)/sample-agent/variants/VERSION or VERSION-FAULT. The first number of VERSION decides which
# formats of the position file the variant knows.

sample_parts := $(filter-out %/main.cc %/variant.cc,$(wildcard sample-agent/*.cc))
sample_objects := $(BUILD)/objects/sample-agent
sample_library := $(BUILD)/libsample-agent.a
sample_agent := $(BUILD)/sample-agent/sample-agent

sample_variants := 1.0.0 2.0.0 3.0.0-crash_at_start 4.0.0-hang_at_start 5.0.0-crash_on_trial 6.0.0 \
  7.0.0 1.0.1-slow_to_stop 1.0.2-never_stops 1.0.3-writes_too_early
sample_variant_files := $(sample_variants:%=$(BUILD)/sample-agent/variants/%)

# The number of the position's format: 1 for versions before 2.0.0, and 2 for version 2.0.0 and
# later versions.
position_format = $(if $(filter 1,$(firstword $(subst ., ,$(1)))),1,2)

$(sample_library): $(call unit,sample-agent/sample-agent,$(sample_parts))
	@rm -f $@
	ar rcs $@ $^

$(sample_agent): $(sample_objects)/main.o $(sample_objects)/variant.o $(sample_library) \
  $(releases_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -luv -lsodium

$(sample_variants:%=$(sample_objects)/variants/%.o): $(sample_objects)/variants/%.o: \
  sample-agent/variant.cc
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $< \
	  -DSAMPLE_AGENT_VERSION='$(subst .,$(comma) ,$(firstword $(subst -, ,$*)))' \
	  -DSAMPLE_AGENT_FAULT=$(or $(word 2,$(subst -, ,$*)),none) \
	  -DSAMPLE_AGENT_POSITION_FORMAT=$(call position_format,$*)

comma := ,

$(sample_variant_files): $(BUILD)/%: $(BUILD)/objects/%.o \
  $(sample_objects)/main.o $(sample_library) $(releases_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -luv -lsodium

# Builds the programs that watch the sample agent, live_demo and check_lines, and the library that
# these two share with their tests.
demo_library := $(BUILD)/tests/libdemo.a
demo_programs := $(BUILD)/tests/demo/live_demo $(BUILD)/tests/demo/check_lines

$(demo_library): $(call unit,tests/demo,$(filter-out %/live_demo.cc %/check_lines.cc, \
  $(wildcard tests/demo/*.cc)))
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^

$(demo_programs): $(BUILD)/%: $(BUILD)/objects/%.o $(demo_library) $(sample_library) \
  $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -luv

samples: $(demo_programs)

sample_tests := $(patsubst %.cc,$(BUILD)/%,$(wildcard tests/decisions/unit/sample_*_test.cc) \
  tests/together/integration/sample_agent_test.cc)
$(sample_tests): $(demo_library) $(sample_library) $(releases_library) $(protocol_library)
$(sample_tests): LDFLAGS += -lsodium
