# Builds and tests the upgrader, notify-watchdog and a hello-agent, each as one small file that
# needs no library: `make static` and `make check-static`
# [ARCH=amd64|arm64|armel|armhf|i386|mips|mipsel|ppc64el|riscv64|s390x]. musl and libuv are compiled
# from Debian's source packages; libstdc++'s headers are used with our own run-time library
# (run_time.cc). The build with glibc remains the reference.

ARCH ?= amd64
static := $(BUILD)/static/$(ARCH)
upgrader_static := $(static)/upgrader

static_triplet_amd64 = x86_64-linux-gnu
static_triplet_arm64 = aarch64-linux-gnu
static_triplet_armel = arm-linux-gnueabi
static_triplet_armhf = arm-linux-gnueabihf
static_triplet_i386 = i686-linux-gnu
static_triplet_mips = mips-linux-gnu
static_triplet_mipsel = mipsel-linux-gnu
static_triplet_ppc64el = powerpc64le-linux-gnu
static_triplet_riscv64 = riscv64-linux-gnu
static_triplet_s390x = s390x-linux-gnu
static_triplet := $(static_triplet_$(ARCH))

static_compiler = $(if $(filter amd64,$(ARCH)),g++,g++-$(static_triplet))
static_packages = dpkg-dev libcereal-dev $(static_compiler)

# The sources of libuv and musl come from Debian. They are fetched once, unpacked here and compiled,
# so no library for the target's processor need be installed.
static_libuv := $(BUILD)/static/libuv
static_musl := $(BUILD)/static/musl
static_musl_built := $(static)/musl
static_libc := $(static_musl_built)/lib/libc.a

# The directories of libstdc++'s headers: first for this machine's own compiler, then for a cross
# compiler.
static_c++ = /usr/include/c++/12 /usr/include/$(static_triplet)/c++/12
ifneq ($(ARCH),amd64)
static_c++ = /usr/$(static_triplet)/include/c++/12 \
  /usr/$(static_triplet)/include/c++/12/$(static_triplet)
endif

# The flags for the compiler. Most of them make the file small, which is the main aim.
# - -fno-exceptions and -fno-threadsafe-statics: the program throws no exception and has one thread.
# - -fstack-protector: -fstack-protector-strong would also guard every function with an array, and
#   make the file 6 KB larger.
# - -fPIE, with -static-pie: the program is loaded at another address in every process.
# - -z relro: tables of addresses become read-only at the start. musl does not do that, so
#   run_time.cc does.
static_small = -Oz -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables \
  -fstack-protector -fno-inline-functions-called-once --param=max-inline-insns-size=1 \
  -fno-caller-saves -fno-partial-inlining \
  $(static_small_$(ARCH))
static_small_amd64 = -malign-data=abi -fno-jump-tables
# On this processor, musl's long double has 64 bits. The compiler's default is that of glibc, 128
# bits.
static_small_ppc64el = -mlong-double-64
static_flags = -specs=$(static)/musl.specs $(static_small) -flto -fPIE -DNDEBUG
static_cxx_flags = -std=c++20 $(WARNINGS) $(wide_types) -fno-exceptions -fno-threadsafe-statics \
  -nostdinc++ -isystem packaging/static/shims -isystem $(static)/include \
  $(static_c++:%=-isystem %) -I.
static_compile_c = $(static_triplet)-gcc $(static_flags) -D_GNU_SOURCE $(wide_types) \
  -I$(static_libuv)/include
# Use layout.ld for the processors that it supports. Programs for other processors have sections
# that it does not name. They use the linker's own layout, and are some tens of kilobytes larger.
static_small_layout = -Wl,-T,packaging/static/layout.ld -Wl,--orphan-handling=error
static_layout = $(if $(filter amd64 arm64 armhf,$(ARCH)),$(static_small_layout))
# -Wno-odr: run_time.cc may define a symbol with another type than the compiler declares, such as
# that of a type table. At present it defines no such symbol.
static_link_flags = -static-pie -s -flto=2 -flto-partition=one -Wl,--gc-sections \
  -Wl,--sort-section=alignment $(static_layout) \
  -Wl,-z,relro -Wl,-z,now -Wl,--hash-style=gnu -Wl,--build-id=none -Wno-odr
# The linker's flags for a program with a packed list of the addresses to relocate: see run_time.cc.
# Debian's linker can pack the list only for amd64.
static_packed = $(static_packed_$(ARCH))
static_packed_amd64 = -Wl,-z,pack-relative-relocs -Wl,-e,start_with_addresses

# The files that are compiled with -frtti: only they include cereal's headers, which need the names
# of types.
static_with_types = agent-protocol/cpp/wire/codec.cc upgrader/wire/control_request.cc

# The source files of libuv. The upgrader calls none of libuv's functions for threads, names and
# files, so the linker leaves these functions out.
static_libuv_names = fs-poll idna inet random strscpy strtok threadpool timer uv-common \
  uv-data-getter-setters version $(addprefix unix/,async core dl epoll fs getaddrinfo getnameinfo \
  linux-core linux-inotify linux-syscalls loop loop-watcher pipe poll process procfs-exepath \
  proctitle random-devurandom random-getrandom random-sysctl-linux signal stream tcp thread tty \
  udp)

static_objects := $(patsubst %.cc,$(static)/objects/%.o,packaging/static/run_time.cc \
  $(wildcard upgrader/*.cc $(addsuffix /*.cc,$(addprefix upgrader/,wire core shell)) \
  agent-protocol/cpp/wire/*.cc agent-protocol/cpp/session/*.cc) \
  $(base_text_parts) $(base_upgrader_parts))
# notify-watchdog uses neither libuv nor the protocol's library, so it has a list of objects of its
# own.
watchdog_static := $(static)/notify-watchdog
static_watchdog_objects := $(patsubst %.cc,$(static)/objects/%.o,packaging/static/run_time.cc \
  $(wildcard tools/notify-watchdog/*.cc) base/notify_listener.cc $(base_text_parts) \
  $(base_upgrader_parts))
# A hello-agent for a small device: the example in C, with the library for agents.
hello_static := $(static)/hello-agent
static_hello_objects := $(patsubst %.cc,$(static)/objects/%.o,packaging/static/run_time.cc \
  $(wildcard $(addprefix agent-protocol/cpp/,agent/*.cc wire/*.cc session/*.cc)) \
  $(base_text_parts) $(base_upgrader_parts))
static_libuv_objects := $(static_libuv_names:%=$(static)/objects/libuv/%.o)

.PHONY: static static-program check-static check-static-here
static:
	@tests/need-packages $(static_packages)
	@$(MAKE) $(jobs) --no-print-directory static-program

static-program: $(upgrader_static) $(watchdog_static) $(hello_static)
	@for file in $^; do echo "$$file: $$(stat -c %s "$$file") bytes"; done

$(watchdog_static): $(static_watchdog_objects) $(static_libc) packaging/static/static.mk \
    packaging/static/layout.ld packaging/static/without_sections
	$(static_triplet)-gcc $(static_flags) $(static_link_flags) $(static_packed) -o $@ \
	  $(static_watchdog_objects)
	packaging/static/without_sections $@

$(hello_static): sample-agent/hello/hello-agent.c $(static_hello_objects) $(static_libc) \
    packaging/static/static.mk packaging/static/layout.ld packaging/static/without_sections
	$(static_compile_c) -I. $(static_link_flags) $(static_packed) -o $@ $< $(static_hello_objects)
	packaging/static/without_sections $@

# The upgrader is linked twice. The first link removes unused code, so that the second link takes
# only the parts of musl that the remaining code needs.
$(upgrader_static): $(static_objects) $(static_libuv_objects) $(static_libc) \
  packaging/static/static.mk \
    packaging/static/layout.ld packaging/static/without_sections
	@rm -rf $(static)/linked  # remove files of an earlier link, which could be mistaken for the result
	@mkdir -p $(static)/linked
	$(static_triplet)-gcc $(static_flags) $(static_link_flags) $(static_packed) -save-temps \
	  -o $(static)/linked/upgrader $(static_objects) $(static_libuv_objects)
	$(static_triplet)-gcc $(static_flags) $(static_link_flags) $(static_packed) -o $@ \
	  $(static)/linked/upgrader.ltrans0.ltrans.o
	packaging/static/without_sections $@

$(sort $(static_objects) $(static_watchdog_objects) $(static_hello_objects)): \
    $(static)/objects/%.o: %.cc $(static)/musl.specs $(static)/include
	@mkdir -p $(@D)
	$(static_triplet)-g++ $(static_flags) $(static_cxx_flags) \
	  $(if $(filter $(static_with_types),$<),,-fno-rtti) -MMD -MP -c -o $@ $<

$(static_libuv_objects): $(static)/objects/libuv/%.o: $(static)/musl.specs \
    $(static_libuv)/fetched
	@mkdir -p $(@D)
	$(static_compile_c) -I$(static_libuv)/src -c -o $@ $(static_libuv)/src/$*.c

# Make an empty file `iostream`, which the compiler finds before the real header: cereal includes
# <iostream> without need, which would cost 600 KB. Of /usr/include, the compiler must find only
# cereal, since the other headers belong to glibc.
$(static)/include: $(static_libuv)/fetched
	rm -rf $@
	mkdir -p $@
	ln -s /usr/include/cereal $(abspath $(static_libuv))/include/* $@
	: >$@/iostream

# The specs (which start code and libraries gcc links) for packaging/static/tools, made by a script
# of musl. They are for programs that may use exceptions and do not relocate themselves. On ARM,
# libgcc calls raise() of the C library, so the linker must search the two libraries repeatedly.
$(static)/musl_exceptions.specs: $(static_musl_built)/config.mak
	$(static_make_musl) install-headers
	sh $(static_musl)/tools/musl-gcc.specs.sh $(abspath $(static_musl_built))/include \
	  $(abspath $(static_musl_built))/lib none | sed -e 's|-dynamic-linker none||' \
	  -e 's|^libgcc[.]a%s.*|--start-group & -lc --end-group|' >$@

# The specs for the upgrader, which relocates itself, since it has no loader. musl's script makes no
# specs for such programs, so put in their start code, rcrt1.o. Also take out crtbeginS.o and
# crtendS.o, which support exceptions and transactional memory. All objects depend on this file, so
# that they are compiled again when flags in it change.
$(static)/musl.specs: $(static)/musl_exceptions.specs
	sed -e 's|Scrt1[.]o|rcrt1.o|' -e 's|crtbeginS.o%s||; s|crtendS.o%s||' \
	  -e 's|^ *-nostdlib|-static -pie --no-dynamic-linker -z text &|' \
	  -e 's|^--start-group \(.*\) -lc --end-group|\1|' $< >$@

$(static_libc): $(static)/musl.specs
	$(static_make_musl) -j$(shell nproc) lib/libc.a \
	  $(patsubst %,lib/%.o,rcrt1 Scrt1 crti crtn) $(patsubst %,lib/lib%.a,m pthread rt dl)

# Runs musl's Makefile without this one's variables, since ARCH has another meaning in musl's.
static_make_musl = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u ARCH \
  $(MAKE) -s -C $(static_musl_built)
$(static_musl_built)/config.mak: $(static_musl)/fetched packaging/static/static.mk
	rm -rf $(@D)
	mkdir -p $(@D)
	cd $(@D) && $(abspath $(static_musl))/configure --target=$(static_triplet) \
	  --prefix=$(abspath $(@D)) --disable-shared --enable-optimize=no \
	  CFLAGS='$(static_small)' >configured

# The fetches of musl and libuv must not run at the same time, since they keep apt's lists in one
# directory.
$(static_musl)/fetched: packaging/static/fetch | $(static_libuv)/fetched
	packaging/static/fetch $(BUILD)/static/apt musl $(static_musl)
	touch $@

$(static_libuv)/fetched: packaging/static/fetch
	packaging/static/fetch $(BUILD)/static/apt libuv1 $(static_libuv)
	touch $@

# The agent with which `make size` compares how fast several programs start an agent. It is static
# and small: with glibc, the work before its main() would hide the differences.
$(static)/stamp_agent: tests/benchmark/stamp_agent.c tests/benchmark/stamps.h $(static_libc) \
    packaging/static/layout.ld
	@mkdir -p $(@D)
	$(static_compile_c) -I. $(static_link_flags) -o $@ $<

# ---- tests of the static programs: all tests for amd64; otherwise upgrades in an emulator

static_emulator_arm64 = qemu-aarch64
static_emulator_armel = qemu-arm
static_emulator_armhf = qemu-arm
static_emulator_ppc64el = qemu-ppc64le
# The emulated processor has no floating point, as in many routers, so that a program that uses
# floating point fails the tests.
static_emulator_mips = qemu-mips -cpu 24Kc
static_emulator_mipsel = qemu-mipsel -cpu 24Kc
static_emulator = $(if $(filter amd64,$(ARCH)),,$(or $(static_emulator_$(ARCH)),qemu-$(ARCH)))

# Links a C++ program that tests/delivery/static/run.sh starts.
static_link_c++ = $(static_triplet)-g++ $(static_flags) $(static_cxx_flags) $(static_link_flags) \
  -nodefaultlibs -o $@ $(filter %.cc %.o,$^) -lc -lgcc
$(static)/tests/kind: tests/delivery/static/kind.cc $(static)/objects/packaging/static/run_time.o \
  $(static_libc)
	@mkdir -p $(@D)
	$(static_link_c++) -fno-rtti
$(static)/tests/asks: tests/delivery/static/kind.cc $(static)/objects/packaging/static/run_time.o \
  $(static_libc)
	@mkdir -p $(@D)
	$(static_link_c++) -DASKS
$(static)/tests/maps: tests/delivery/static/maps.c $(static_libc)
	@mkdir -p $(@D)
	$(static_compile_c) $(static_link_flags) -o $@ $<

# usage: $(play_static_hello) UPGRADER HELLO-AGENT
play_static_hello = \
  play() { tests/together/languages/play_counter.py "$$1" hello-agent "$$2"; }; play

check-static:
	@tests/need-packages $(static_packages) python3 \
	  $(if $(static_emulator),qemu-user,$(check_packages))
	@$(MAKE) $(jobs) --no-print-directory static-program
	@$(MAKE) $(jobs) --no-print-directory check-static-here

ifeq ($(ARCH),amd64)
check-static-here: $(upgrader_static) samples $(integration_tests) $(puppet)
	@UPGRADER=$(abspath $(upgrader_static)) ARCH=$(ARCH) tests/run $(BUILD) \
	  tests/delivery/static/run.sh \
	  $(integration_tests) tests/delivery/places/run.sh
	@$(play_static_hello) $(abspath $(upgrader_static) $(hello_static))
else
# The agents of the tests are scripts for /bin/sh. The emulated upgrader refuses a script whose
# /bin/sh is not a program for the emulated processor, so the emulator shows it another /bin/sh: a
# link to the upgrader itself. The kernel still runs the scripts by this machine's own /bin/sh.
# in_emulator makes a script that runs a program in the emulator.
in_emulator = { echo '\#!/bin/sh'; \
  echo 'exec $(static_emulator) -L $(abspath $(static)/emulated) $(abspath $(1)) "$$@"'; \
  } >$(2) && chmod +x $(2)
check-static-here: $(upgrader_static) $(hello_static)
	@mkdir -p $(static)/emulated/bin
	@ln -sf $(abspath $(upgrader_static)) $(static)/emulated/bin/sh
	@$(call in_emulator,$(upgrader_static),$(static)/emulated/upgrader)
	@$(call in_emulator,$(hello_static),$(static)/emulated/hello-agent)
	@ARCH=$(ARCH) tests/run $(BUILD) tests/delivery/static/run.sh
	@timeout 120 tests/delivery/places/upgrades $(upgrader_static) \
	  $(static_emulator) -L $(abspath $(static)/emulated)
	@$(play_static_hello) $(abspath $(static)/emulated/upgrader $(static)/emulated/hello-agent)
endif
