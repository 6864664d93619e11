# agentify: an adapter that makes an agent of any daemon. Its tests are in tests/agentify.

node_programs += $(BUILD)/agentify
agentify_library := $(BUILD)/libagentify.a
agentify_objects := $(call objects,$(filter-out node/agentify/main.cc, \
  $(wildcard node/agentify/*.cc)))
$(agentify_library): $(agentify_objects); $(make_archive)

$(BUILD)/agentify: $(BUILD)/objects/node/agentify/main.o $(agentify_library) $(upgrader_library) \
    $(protocol_library)
	$(LINK) -o $@ $^ -Wl,--as-needed -luv

agentify_units := $(patsubst %.cc,$(BUILD)/%,$(wildcard tests/agentify/*_test.cc))
$(BUILD)/objects/tests/agentify/%.o: CXXFLAGS += -O0
$(BUILD)/objects/tests/agentify/explore_test.o: CXXFLAGS += -O1  # it walks every state
$(agentify_units): $(BUILD)/tests/agentify/%: $(BUILD)/objects/tests/agentify/%.o \
    $(BUILD)/objects/tests/catch_main.o $(agentify_library) $(upgrader_library) \
    $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -luv

# Beside a double of the upgrader; they take agentify from $(BUILD).
agentify_plays := tests/agentify/life.py tests/agentify/readiness.py
$(agentify_plays): $(BUILD)/agentify
node_tests += $(agentify_units) $(agentify_plays)
node_packages += python3
