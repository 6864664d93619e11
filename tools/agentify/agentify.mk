# Builds agentify, an adapter: it runs any daemon, and speaks the agent protocol in the daemon's
# place. Its tests are in tests/together/agentify.

tool_programs += $(BUILD)/agentify
agentify_library := $(BUILD)/libagentify.a
agentify_objects := $(call unit,tools/agentify,$(filter-out tools/agentify/main.cc, \
  $(wildcard tools/agentify/*.cc))) \
  $(call unit,tools/agentify-launch,$(wildcard tools/agentify/launch/*.cc)) \
  $(call unit,tools/agentify-doctor,$(wildcard tools/agentify/doctor/*.cc))
$(agentify_library): $(agentify_objects); $(make_archive)

# For --follow, agentify links only those parts of libagent-releases that read and verify releases,
# and no part that fetches releases. `agentify run` checks the upgrader's options with the
# upgrader's own parser, so the upgrader's library is linked, too.
agentify_libraries = $(agentify_library) $(BUILD)/libagent-releases.a $(upgrader_library) \
  $(base_library) $(protocol_library)

$(BUILD)/agentify: $(BUILD)/objects/tools/agentify/main.o $(agentify_libraries)
	$(LINK) -o $@ $^ -Wl,--as-needed -luv -lsodium -lcurl $(LDLIBS)

agentify_files := $(wildcard tests/together/agentify/*_test.cc)
agentify_walk := tests/together/agentify/explore_test.cc
agentify_units := $(agentify_files:%.cc=$(BUILD)/%)
$(BUILD)/objects/units/tests/together/agentify/%.o $(BUILD)/objects/tests/together/agentify/%.o: \
  CXXFLAGS += -O0
# The test in agentify_walk visits every state of agentify's state machine, which would take long
# without compiler optimization.
$(call objects,$(agentify_walk)): CXXFLAGS += -O2
$(call wing,together/agentify/wing,$(agentify_files))
$(BUILD)/tests/together/agentify/wing: $(call objects,$(agentify_walk)) \
    $(call unit,tests/together/agentify/wing,$(filter-out $(agentify_walk),$(agentify_files))) \
    $(catch_main) $(agentify_libraries)
	$(link_wing) -luv -lsodium -lcurl

# Tests with a fake upgrader and with the real one. All of them run the agentify in $(BUILD).
agentify_plays := tests/together/agentify/life.py tests/together/agentify/stops.py \
  tests/together/agentify/readiness.py tests/together/agentify/probes.py \
  tests/together/agentify/follow.py \
  tests/together/agentify/run.py \
  tests/together/agentify/last_words.py tests/together/agentify/unit.py \
  tests/together/agentify/doctor.py \
  tests/together/agentify/trial.py \
  tests/together/agentify/faults.py tests/together/agentify/kill.py
agentify_witness := $(BUILD)/tests/together/agentify/witness
# The witness is the daemon in agentify's tests. It records whether two daemons ever ran at the same
# time. It is linked statically, and without sanitizers even if all other programs are sanitized.
$(agentify_witness): $(BUILD)/objects/tests/together/agentify/witness.o
	@mkdir -p $(@D)
	$(CC) $(filter-out -fsanitize=% -static-lib%,$(LDFLAGS)) -static -o $@ $^
tool_tests += $(agentify_units) $(agentify_plays)
slow_tests += tests/together/agentify/faults.py
long_tests += $(agentify_walk:%.cc=$(BUILD)/%) tests/together/agentify/doctor.py
check-built: $(agentify_witness)
tool_packages += python3 minisign openssl strace
sanitized_tests += $(agentify_units) $(filter-out %/faults.py %/kill.py,$(agentify_plays))
sanitized_programs += $(BUILD)/agentify $(BUILD)/agent-releases $(agentify_witness)

# kill-agentify runs an upgrade POINTS times. In each run it kills one of four processes: agentify,
# its keeper (the daemon's parent process), the daemon or the upgrader. The point of the upgrade at
# which it kills the process differs from run to run. At one point in six the chosen process does
# not exist, so that run kills nothing.
.PHONY: kill-agentify fault-agentify check-daemons endurance-agentify
POINTS ?= 2600
kill-agentify:
	@tests/need-packages $(build_packages) gcc python3
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/agentify $(agentify_witness)
	@BUILD=$(BUILD) tests/together/agentify/kill.py $(POINTS)

# fault-agentify runs agentify many times. In each run it makes one system call fail, of agentify or
# of its keeper (the daemon's parent process), until every call has failed once.
fault-agentify:
	@tests/need-packages $(build_packages) gcc python3 strace
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/agentify $(agentify_witness)
	@BUILD=$(BUILD) EVERY=1 tests/together/agentify/faults.py

# The Debian packages of the daemons with which agentify is tested. The results are written into
# agentify(1). Debian may start a daemon when its package is installed. That does no harm, because
# each test runs its own daemon with a port and a directory of its own.
daemon_packages = $(build_packages) python3 nginx-light redis-server postgresql chrony util-linux
# The Debian packages of daemons on which only `agentify doctor` is tested.
doctor_packages := haproxy memcached mosquitto dnsmasq-base lighttpd
check_agents_tests += $(addprefix tests/together/agentify/,daemons.py crowd.py readme.py \
  doctor_daemons.py)
check_agents_packages += $(daemon_packages) $(doctor_packages)
check-daemons:
	@tests/need-packages $(daemon_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/agentify
	@BUILD=$(BUILD) TABLE=man/agentify.1 tests/together/agentify/daemons.py $(ONLY)
	@BUILD=$(BUILD) TABLE=man/agentify.1 tests/together/agentify/crowd.py

# endurance-agentify upgrades nginx a thousand times, a third of the times to a bad version, while a
# client sends requests.
endurance-agentify:
	@tests/need-packages $(daemon_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/agentify
	@BUILD=$(BUILD) tests/together/agentify/endurance.py $(or $(UPGRADES),1000)
