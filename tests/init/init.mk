# make check-init: real init systems as process 1 of machines of their own, with the service files
# of sample-agent/init/. The roots are made once, with the network, and kept in $(BUILD)/init.

init_packages = $(build_packages) python3 mmdebstrap util-linux mount

.PHONY: check-init
check-init:
	@tests/need-packages $(init_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader samples
	@BUILD=$(BUILD) ONLY='$(ONLY)' tests/init/check
