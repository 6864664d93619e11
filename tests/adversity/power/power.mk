# `make check-power FS=ext4 CUTS=30` cuts the power of a virtual machine, and judges this machine's
# disk in a second virtual machine. FS is ext4, ext4-writeback, ext4-nojournal, overlay, f2fs,
# btrfs, xfs, jffs2 or ubifs. The test needs Debian's kernel, which is unpacked below $(BUILD) and
# never installed.

power_mark := $(BUILD)/tests/adversity/power/mark
$(power_mark): tests/adversity/power/mark.c
	@mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE $(wide_types) -O2 -Wall -Wextra -static -o $@ $<

power_kernel := $(BUILD)/power/kernel
$(power_kernel)/boot:
	@mkdir -p $(power_kernel)/package
	@package=$$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: //p' | head -n 1) && \
	  echo "Fetching from Debian: $$package" && cd $(power_kernel)/package && \
	  apt-get download -q $$package >/dev/null 2>&1 && dpkg -x *.deb ..

# Builds flash.c, the simulated flash for jffs2 and ubifs, as a module for the virtual machines'
# kernel.
power_flash := $(BUILD)/tests/adversity/power/flash.ko
$(power_flash): tests/adversity/power/flash.c $(power_kernel)/boot
	@mkdir -p $(power_kernel)/flash
	@cp $< $(power_kernel)/flash && echo 'obj-m := flash.o' >$(power_kernel)/flash/Makefile
	@version=$$(ls $(power_kernel)/lib/modules) && \
	  tests/need-packages linux-headers-$$version && \
	  env -u MAKEFLAGS -u MAKELEVEL make -s -C /usr/src/linux-headers-$$version \
	    M=$(abspath $(power_kernel))/flash modules
	@mkdir -p $(@D) && cp $(power_kernel)/flash/flash.ko $@

# `make check-hangs` makes the agent, the upgrader, notify-watchdog, the kernel or the disk hang in
# a virtual machine with a hardware watchdog, mostly during an upgrade.
.PHONY: check-power check-hangs
check-hangs:
	@tests/need-packages $(build_packages) $(static_packages) python3 qemu-system-x86 \
	  busybox-static e2fsprogs dmsetup
	@$(MAKE) $(jobs) --no-print-directory static-program $(BUILD)/notify-watchdog \
	  $(power_kernel)/boot
	@BUILD=$(BUILD) TIMES=$(if $(filter 1,$(LONG)),20,2) nice -n 15 tests/adversity/power/hangs

# `make check-fat` runs the upgrader in a virtual machine whose disk can have neither links nor
# FIFOs.
.PHONY: check-fat
check-fat:
	@tests/need-packages $(build_packages) $(static_packages) python3 qemu-system-x86 \
	  busybox-static dosfstools
	@$(MAKE) $(jobs) --no-print-directory static-program $(power_kernel)/boot
	@BUILD=$(BUILD) nice -n 15 tests/adversity/power/fat

# `make check-memory` measures, on a MIPS processor, the memory and the flash that upgrader and
# notify-watchdog need on a small device. After `make static-tools ARCH=mipsel`, it also measures
# agentify and agent-releases. TOOLS names a different directory with these two programs.
.PHONY: check-memory
power_mipsel := $(BUILD)/power/mipsel
$(power_mipsel)/boot:
	@tests/adversity/power/fetch_foreign mipsel $(power_mipsel) linux-image-4kc-malta busybox-static
check-memory:
	@tests/need-packages $(build_packages) dpkg-dev g++-mipsel-linux-gnu python3 qemu-system-mips \
	  squashfs-tools
	@$(MAKE) $(jobs) --no-print-directory static-program ARCH=mipsel
	@$(MAKE) --no-print-directory $(power_mipsel)/boot
	@BUILD=$(BUILD) $(if $(TOOLS),TOOLS=$(TOOLS)) tests/adversity/power/memory

FS ?= ext4
CUTS ?= $(if $(filter 1,$(LONG)),$(if $(filter ext4-writeback jffs2 ubifs,$(FS)),200,1000),30)
check-power:
	@tests/need-packages $(build_packages) $(static_packages) gcc python3 qemu-system-x86 \
	  busybox-static $$(FS=$(FS) tests/adversity/power/power --packages)
	@$(MAKE) $(jobs) --no-print-directory static-program $(BUILD)/upgrader $(BUILD)/agent-releases \
	  $(power_mark) \
	  $(BUILD)/tests/adversity/crash/careless.so $(power_kernel)/boot \
	  $(if $(filter jffs2 ubifs,$(FS)),$(power_flash))
	@BUILD=$(BUILD) FS=$(FS) CUTS=$(CUTS) SEED=$(SEED) nice -n 15 tests/adversity/power/power
