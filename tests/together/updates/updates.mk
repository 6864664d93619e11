# make check-updates: tests daemons and agents that update themselves with the libraries for Node.js
# and Python. Uses the real npm and pip, with a package registry that the test runs. If npm or pip
# is not installed, its tests are left out, and the report says so.

updates_tests := $(addprefix tests/together/updates/,agents npm pip)
long_tests += $(updates_tests)

.PHONY: check-updates check-pm2
check-updates:
	@tests/need-packages $(build_packages) $(tool_packages) python3 python3-pip nodejs $(npm_package)
	@$(MAKE) $(jobs) --no-print-directory $(programs)
	@tests/run $(BUILD) $(updates_tests)

# make check-pm2: updates the same daemon under agentify and under pm2, which is taken from npm's
# registry. In both cases, the installation is killed 300 times, each time at a different call that
# changes a file. Then six kinds of bad versions are installed. Takes a quarter of an hour, and
# writes its table into docs/npm.md.
check-pm2: updates_killer := $(BUILD)/tests/together/updates/kill_at.so
check-pm2:
	@tests/need-packages $(build_packages) $(tool_packages) gcc python3 nodejs $(npm_package)
	@$(MAKE) $(jobs) --no-print-directory $(programs) $(updates_killer)
	@BUILD=$(BUILD) KILLS=$(KILLS) tests/together/updates/pm2

$(BUILD)/tests/together/updates/kill_at.so: tests/together/updates/kill_at.c
	@mkdir -p $(@D)
	gcc -std=c11 $(WARNINGS) -O2 -fPIC -shared -o $@ $<
