# make check-init: boots real init systems as process 1 of their own machines, with the service
# files of sample-agent/init/ and those that agentify unit prints for nginx and PostgreSQL.
# ONLY=nginx/runit chooses one daemon and one init system. The machines' root directories are made
# once, with packages from the network, and kept in $(BUILD)/init.

init_packages = $(build_packages) python3 mmdebstrap util-linux mount iproute2

.PHONY: check-init
check-init:
	@tests/need-packages $(init_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/agentify \
	  $(BUILD)/upgraderctl samples
	@case '$(ONLY)' in nginx* | postgresql*) ;; \
	  *) BUILD=$(BUILD) ONLY='$(ONLY)' tests/delivery/init/check ;; esac
	@BUILD=$(BUILD) ONLY='$(ONLY)' tests/delivery/init/daemons
