# The targets `make packaging`, `make check-images`, `make npm` and `make wheels`: make the files
# from which other projects build images and packages. See README.md.

.PHONY: packaging check-images static-tools npm wheels
packaging: dist
	@packaging/fill $(version) $(archive_path) $(BUILD)/packaging
	@echo $(BUILD)/packaging

check-images:
	@tests/need-packages $(static_packages) buildah busybox-static procps util-linux
	@$(MAKE) $(jobs) --no-print-directory static-program
	@tests/delivery/packages/images $(upgrader_static) /bin/busybox

# The four programs that go into the packages, as static programs for this machine's processor.
static_tools := $(BUILD)/static/tools
static_tool_packages = $(static_packages) $(build_packages) musl-tools autoconf automake autopoint \
  libtool linux-libc-dev
static-tools:
	@tests/need-packages $(static_tool_packages)
	@$(MAKE) $(jobs) --no-print-directory static-program
	@packaging/static/tools $(static_tools)
	@cp $(upgrader_static) $(static_tools)/bin

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
