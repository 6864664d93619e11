# The own update of a daemon and of an agent, by the libraries for Node.js and Python: the real npm
# and pip, with a registry of the test. What is not installed is left out, and that is said.

updates_tests := $(addprefix tests/together/updates/,agents npm pip)
long_tests += $(updates_tests)

.PHONY: check-updates check-pm2
check-updates:
	@tests/need-packages $(build_packages) $(tool_packages) python3 python3-pip nodejs $(npm_package)
	@$(MAKE) $(jobs) --no-print-directory $(programs)
	@tests/run $(BUILD) $(updates_tests)

# The same daemon beside pm2, which is taken from npm's registry: the installation is killed at 300
# calls that write, and versions are bad in six ways. Takes a quarter of an hour, and writes its
# table into docs/npm.md.
check-pm2: updates_killer := $(BUILD)/tests/together/updates/kill_at.so
check-pm2:
	@tests/need-packages $(build_packages) $(tool_packages) gcc python3 nodejs $(npm_package)
	@$(MAKE) $(jobs) --no-print-directory $(programs) $(updates_killer)
	@BUILD=$(BUILD) KILLS=$(KILLS) tests/together/updates/pm2

$(BUILD)/tests/together/updates/kill_at.so: tests/together/updates/kill_at.c
	@mkdir -p $(@D)
	gcc -std=c11 $(WARNINGS) -O2 -fPIC -shared -o $@ $<
