# A daemon's own update, by the libraries for Node.js and Python: the real npm and pip, with a
# registry of the test. What is not installed is left out, and that is said.

updates_tests := $(addprefix tests/together/updates/,npm pip)
long_tests += $(updates_tests)

.PHONY: check-updates
check-updates:
	@tests/need-packages $(build_packages) $(tool_packages) python3 python3-pip nodejs $(npm_package)
	@$(MAKE) $(jobs) --no-print-directory $(programs)
	@tests/run $(BUILD) $(updates_tests)
