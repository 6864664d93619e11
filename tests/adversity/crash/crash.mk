# make crash: builds every state in which a power cut may leave the upgrader's links and the sample
# agent's files, and judges each state: the links must name the right program, and the agent must
# copy each line of its log exactly once.

crash_programs := $(addprefix $(BUILD)/tests/adversity/crash/,judge_link judge_position careless.so)
crash_packages = $(build_packages) strace

$(BUILD)/tests/adversity/crash/judge_link: $(BUILD)/objects/tests/adversity/crash/judge_link.o \
    $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

$(BUILD)/tests/adversity/crash/judge_position: \
  $(BUILD)/objects/tests/adversity/crash/judge_position.o \
    $(BUILD)/tests/libdemo.a $(BUILD)/libsample-agent.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

# careless.so is built without sanitizers, because programs without sanitizers, such as `env`, load
# it, too.
careless_flags := $(filter-out -fsanitize=%,$(CXXFLAGS))
$(BUILD)/tests/adversity/crash/careless.so: CXXFLAGS = $(careless_flags)
$(BUILD)/tests/adversity/crash/careless.so: LDFLAGS := $(filter-out -fsanitize=% \
  -static-lib%,$(LDFLAGS))
$(BUILD)/tests/adversity/crash/careless.so: $(BUILD)/objects/tests/adversity/crash/careless.o
	@mkdir -p $(@D)
	$(LINK) -shared -o $@ $^

.PHONY: crash
crash:
	@tests/need-packages $(crash_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader \
	  $(BUILD)/sample-agent/sample-agent $(crash_programs)
	@BUILD=$(BUILD) tests/adversity/crash/run

# The check of power cuts takes only seconds, so every `make check` runs it.
layer_tests += tests/adversity/crash/run
slow_tests += tests/adversity/crash/run
check-built: $(crash_programs) $(BUILD)/sample-agent/sample-agent
