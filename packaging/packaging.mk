# Makes the files from which other projects build images and packages (`make packaging`, `make
# check-images`, `make npm` and `make wheels`; see README.md), and a small web site of the manual
# and docs/ (`make html`).

.PHONY: packaging check-images static-tools check-static-tools npm wheels
packaging: dist
	@packaging/fill $(version) $(archive_path) $(BUILD)/packaging
	@echo $(BUILD)/packaging

check-images:
	@tests/need-packages $(static_packages) buildah busybox-static procps util-linux
	@$(MAKE) $(jobs) --no-print-directory static-program
	@tests/delivery/packages/images $(upgrader_static) /bin/busybox

# `make static-tools [ARCH=amd64|arm64|armhf|mipsel]` makes the four programs that go into the
# packages (upgrader, upgraderctl, agentify and agent-releases), as static programs for one
# processor.
static_tools := $(BUILD)/static/tools/$(ARCH)
static_tool_packages = $(static_packages) $(build_packages) autoconf automake autopoint libtool \
  $(if $(filter amd64,$(ARCH)),linux-libc-dev,linux-libc-dev-$(ARCH)-cross)
static-tools:
	@tests/need-packages $(static_tool_packages)
	@$(MAKE) $(jobs) --no-print-directory static-program $(static)/musl_exceptions.specs
	@packaging/static/tools $(static_tools) $(static_triplet) $(static)/musl_exceptions.specs
	@cp $(upgrader_static) $(static_tools)/bin

# `make check-static-tools [ARCH=...]` runs some tests with the static agent-releases and agentify.
# For a foreign ARCH, the programs run in qemu-user, and agentify is left out, because qemu-user has
# no subreapers. For MIPS, qemu-user emulates a processor with floating point (24Kf), because it
# does not emulate floating point on a 24Kc, as Linux would. For mipsel, `make check-memory` tests
# agentify in an emulated machine.
static_tool_tests = $(addprefix tests/together/,releases/add releases/archives releases/fetch \
  releases/keeping $(if $(static_emulator),,agentify/follow.py))
manifest_name_amd64 = x86_64
manifest_name_arm64 = aarch64
check-static-tools: static_emulator := $(subst 24Kc,24Kf,$(static_emulator))
check-static-tools: static-tools
	@tests/need-packages python3 minisign openssl zstd $(if $(static_emulator),qemu-user)
	@mkdir -p $(static_tools)/run $(static)/emulated/bin
	@ln -sf $(abspath $(upgrader_static)) $(static)/emulated/bin/sh
	@$(foreach name,upgrader upgraderctl agentify agent-releases,$(if $(static_emulator), \
	  $(call in_emulator,$(static_tools)/bin/$(name),$(static_tools)/run/$(name)), \
	  ln -sf ../bin/$(name) $(static_tools)/run/$(name)) &&) true
	@MACHINE=$(or $(manifest_name_$(ARCH)),$(ARCH)) tests/run $(static_tools)/run $(static_tool_tests)

machine := $(shell uname -m)
npm_cpu = $(or $(npm_cpu_$(machine)),$(machine))
npm_cpu_x86_64 = x64
npm_cpu_aarch64 = arm64
npm_cpu_armv7l = arm
npm: static-tools
	@tests/need-packages nodejs $(npm_package)
	@rm -rf $(BUILD)/npm
	@packaging/npm/pack $(version) $(BUILD)/npm $(npm_cpu)=$(static_tools)/bin
	@BUILD=$(BUILD) tests/delivery/packages/installed npm

wheels: static-tools
	@tests/need-packages python3-venv
	@rm -rf $(BUILD)/wheels
	@packaging/python/pack $(version) $(BUILD)/wheels $(machine)=$(static_tools)/bin
	@BUILD=$(BUILD) tests/delivery/packages/installed wheels

# ---- `make html`: makes a small site of the pages of man/, the front page and docs/

html_packages = cmark-gfm mandoc python3
# `make check` needs cmark-gfm, too: one of its tidy checks makes the site and checks the links in
# it.
check_packages += cmark-gfm

.PHONY: html
html:
	@tests/need-packages $(html_packages)
	@packaging/html/site.py $(BUILD)/html
