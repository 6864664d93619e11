# The targets that test the product as users get it: packages and archives, the commands of
# README.md, and services under several init systems.

# `tests/delivery/places/calls` is a test that watches or denies the upgrader's system calls during
# upgrades. It takes only seconds, so every `make check` runs it.
layer_tests += tests/delivery/places/calls

# make check-dist, make check-deb: test the results of `make dist` and `make deb`. make
# check-reproducible [PACKAGES="npm wheels deb"]: makes each of these packages twice from scratch,
# in copies of the tree with different paths, and compares the results.

.PHONY: check-dist check-deb check-reproducible
check-dist: dist
	@tests/need-packages $(build_packages)
	@BUILD=$(BUILD) tests/delivery/packages/built_archive.sh $(archive_path)

check-deb:
	@tests/need-packages $(deb_packages)
	@BUILD=$(BUILD) tests/delivery/packages/packages.sh

PACKAGES ?= npm wheels deb
check-reproducible:
	@tests/delivery/packages/twice $(PACKAGES)

# make check-doors: types the commands of README.md, "Five doors", as a new user does. A door is one
# of five ways to begin with the upgrader: its commands lead from a machine without the upgrader to
# a good upgrade, and to a bad one that falls back. Needs root, and takes two minutes.

.PHONY: check-doors
check-doors:
	@tests/need-packages $(build_packages) $(tool_packages) nginx-light etcd-server iproute2 \
	  util-linux
	@$(MAKE) $(jobs) --no-print-directory $(programs) $(sample_variant_files)
	@tests/run $(BUILD) tests/delivery/doors/doors

# make check-init: boots real init systems, each as process 1 of its own test machine. On these
# machines it tests services of the upgrader: those of sample-agent/init/, and those that `agentify
# unit` prints for nginx and PostgreSQL. `ONLY=nginx/runit` selects one daemon and one init system.
# The machines' root directories are made once, with packages from the network, and kept in
# $(BUILD)/init.

init_packages = $(build_packages) python3 mmdebstrap util-linux mount iproute2

.PHONY: check-init
check-init:
	@tests/need-packages $(init_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(BUILD)/agentify \
	  $(BUILD)/upgraderctl samples
	@case '$(ONLY)' in nginx* | postgresql*) ;; \
	  *) BUILD=$(BUILD) ONLY='$(ONLY)' tests/delivery/init/check ;; esac
	@BUILD=$(BUILD) ONLY='$(ONLY)' tests/delivery/init/daemons
