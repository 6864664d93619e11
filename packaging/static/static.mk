# make static, make check-static [ARCH=amd64|arm64|armhf|i386|mips|mipsel|riscv64|s390x]: the
# upgrader as one small file without any library, from Debian's packages alone: musl and libuv
# compiled from their source packages, and the headers of libstdc++ with a run-time of our own
# (run_time.cc). The build with glibc stays the reference.

ARCH ?= amd64
static := $(BUILD)/static/$(ARCH)
upgrader_static := $(static)/upgrader

static_triplet_amd64 = x86_64-linux-gnu
static_triplet_arm64 = aarch64-linux-gnu
static_triplet_armhf = arm-linux-gnueabihf
static_triplet_i386 = i686-linux-gnu
static_triplet_mips = mips-linux-gnu
static_triplet_mipsel = mipsel-linux-gnu
static_triplet_riscv64 = riscv64-linux-gnu
static_triplet_s390x = s390x-linux-gnu
static_triplet := $(static_triplet_$(ARCH))

static_compiler = $(if $(filter amd64,$(ARCH)),g++,g++-$(static_triplet))
static_packages = dpkg-dev libcereal-dev $(static_compiler)

# Fetched once, and unpacked: nothing of another machine is installed.
static_libuv := $(BUILD)/static/libuv
static_musl := $(BUILD)/static/musl
static_musl_built := $(static)/musl
static_libc := $(static_musl_built)/lib/libc.a

# libstdc++'s headers lie here for the machine's own compiler, and there for one for another.
static_c++ = /usr/include/c++/12 /usr/include/$(static_triplet)/c++/12
ifneq ($(ARCH),amd64)
static_c++ = /usr/$(static_triplet)/include/c++/12 \
  /usr/$(static_triplet)/include/c++/12/$(static_triplet)
endif

# Small before all else. Nothing is thrown, and there is one thread. A stronger protector would also
# guard every function that has a text in it, for 6 KB. At an address of its own in every process,
# and what the loader has filled in is made read-only (run_time.cc does what musl leaves out).
static_small = -Oz -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables \
  -fstack-protector -fno-inline-functions-called-once --param=max-inline-insns-size=1 \
  -fno-caller-saves -fno-partial-inlining \
  $(static_small_$(ARCH))
static_small_amd64 = -malign-data=abi -fno-jump-tables
static_flags = -specs=$(static)/musl.specs $(static_small) -flto -fPIE -DNDEBUG
static_cxx_flags = -std=c++20 $(WARNINGS) $(wide_types) -fno-exceptions -fno-threadsafe-statics \
  -nostdinc++ -isystem packaging/static/shims -isystem $(static)/include \
  $(static_c++:%=-isystem %) -I.
static_compile_c = $(static_triplet)-gcc $(static_flags) -D_GNU_SOURCE $(wide_types) \
  -I$(static_libuv)/include
# Other processors have sections that packaging/static/layout.ld does not know: there the linker's
# own layout has to do, which makes the file some tens of kilobytes larger.
static_small_layout = -Wl,-T,packaging/static/layout.ld -Wl,--orphan-handling=error
static_layout = $(if $(filter amd64 arm64 armhf,$(ARCH)),$(static_small_layout))
# -Wno-odr: what stands in run_time.cc for tables of types is no type.
static_link_flags = -static-pie -s -flto=2 -flto-partition=one -Wl,--gc-sections \
  -Wl,--sort-section=alignment $(static_layout) \
  -Wl,-z,relro -Wl,-z,now -Wl,--hash-style=gnu -Wl,--build-id=none -Wno-odr
# The upgrader's addresses are packed: see run_time.cc. Debian's linker can for this machine alone.
static_packed = $(static_packed_$(ARCH))
static_packed_amd64 = -Wl,-z,pack-relative-relocs -Wl,-e,start_with_addresses

# cereal's headers ask what types are called; nobody else does.
static_with_types = agent-protocol/cpp/wire/codec.cc upgrader/wire/control_request.cc

# What has to do with threads, names and files is never called, and left out when it is linked.
static_libuv_names = fs-poll idna inet random strscpy strtok threadpool timer uv-common \
  uv-data-getter-setters version $(addprefix unix/,async core dl epoll fs getaddrinfo getnameinfo \
  linux-core linux-inotify linux-syscalls loop loop-watcher pipe poll process procfs-exepath \
  proctitle random-devurandom random-getrandom random-sysctl-linux signal stream tcp thread tty \
  udp)

static_objects := $(patsubst %.cc,$(static)/objects/%.o,packaging/static/run_time.cc \
  $(wildcard upgrader/*.cc $(addsuffix /*.cc,$(addprefix upgrader/,wire core shell)) \
  agent-protocol/cpp/wire/*.cc agent-protocol/cpp/session/*.cc) \
  $(base_text_parts) $(base_upgrader_parts))
# notify-watchdog needs neither libuv nor the protocol.
watchdog_static := $(static)/notify-watchdog
static_watchdog_objects := $(patsubst %.cc,$(static)/objects/%.o,packaging/static/run_time.cc \
  $(wildcard tools/notify-watchdog/*.cc) base/notify_listener.cc $(base_text_parts) \
  $(base_upgrader_parts))
static_libuv_objects := $(static_libuv_names:%=$(static)/objects/libuv/%.o)

.PHONY: static static-program check-static check-static-here
static:
	@tests/need-packages $(static_packages)
	@$(MAKE) $(jobs) --no-print-directory static-program

static-program: $(upgrader_static) $(watchdog_static)
	@for file in $^; do echo "$$file: $$(stat -c %s "$$file") bytes"; done

$(watchdog_static): $(static_watchdog_objects) $(static_libc) packaging/static/static.mk \
    packaging/static/layout.ld packaging/static/without_sections
	$(static_triplet)-gcc $(static_flags) $(static_link_flags) $(static_packed) -o $@ \
	  $(static_watchdog_objects)
	packaging/static/without_sections $@

# Linked twice. What the first time leaves of all sources asks less of musl than they do, so that
# the second time takes in what is needed, and no more.
$(upgrader_static): $(static_objects) $(static_libuv_objects) $(static_libc) \
  packaging/static/static.mk \
    packaging/static/layout.ld packaging/static/without_sections
	@rm -rf $(static)/linked  # what is left there of an earlier link would be taken for its result
	@mkdir -p $(static)/linked
	$(static_triplet)-gcc $(static_flags) $(static_link_flags) $(static_packed) -save-temps \
	  -o $(static)/linked/upgrader $(static_objects) $(static_libuv_objects)
	$(static_triplet)-gcc $(static_flags) $(static_link_flags) $(static_packed) -o $@ \
	  $(static)/linked/upgrader.ltrans0.ltrans.o
	packaging/static/without_sections $@

$(sort $(static_objects) $(static_watchdog_objects)): $(static)/objects/%.o: %.cc \
    $(static)/musl.specs $(static)/include
	@mkdir -p $(@D)
	$(static_triplet)-g++ $(static_flags) $(static_cxx_flags) \
	  $(if $(filter $(static_with_types),$<),,-fno-rtti) -MMD -MP -c -o $@ $<

$(static_libuv_objects): $(static)/objects/libuv/%.o: $(static)/musl.specs \
    $(static_libuv)/fetched
	@mkdir -p $(@D)
	$(static_compile_c) -I$(static_libuv)/src -c -o $@ $(static_libuv)/src/$*.c

# cereal asks for <iostream>, which the upgrader does without: an empty one saves 600 KB. Nothing
# else of /usr/include must be found: it belongs to glibc.
$(static)/include: $(static_libuv)/fetched
	rm -rf $@
	mkdir -p $@
	ln -s /usr/include/cereal $(abspath $(static_libuv))/include/* $@
	: >$@/iostream

# What musl's wrapper tells the compiler, and musl's start of a program that has no loader and
# relocates itself, which the wrapper does not know of; without what gcc adds to each program for
# exceptions and transactional memory. All that is compiled depends on it, and so on the flags that
# stand here.
$(static)/musl.specs: $(static_musl_built)/config.mak
	$(static_make_musl) install-headers
	sh $(static_musl)/tools/musl-gcc.specs.sh $(abspath $(static_musl_built))/include \
	  $(abspath $(static_musl_built))/lib none | sed -e 's|Scrt1[.]o|rcrt1.o|' \
	  -e 's|crtbeginS.o%s||; s|crtendS.o%s||' \
	  -e 's|-dynamic-linker none|-static -pie --no-dynamic-linker -z text|' >$@

$(static_libc): $(static)/musl.specs
	$(static_make_musl) -j$(shell nproc) lib/libc.a lib/rcrt1.o lib/crti.o lib/crtn.o

# By itself: it has an ARCH of its own.
static_make_musl = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD -u ARCH \
  $(MAKE) -s -C $(static_musl_built)
$(static_musl_built)/config.mak: $(static_musl)/fetched packaging/static/static.mk
	rm -rf $(@D)
	mkdir -p $(@D)
	cd $(@D) && $(abspath $(static_musl))/configure --target=$(static_triplet) \
	  --prefix=$(abspath $(@D)) --disable-shared --enable-optimize=no \
	  CFLAGS='$(static_small)' >configured

# Not both at a time: they keep apt's lists in one place.
$(static_musl)/fetched: packaging/static/fetch | $(static_libuv)/fetched
	packaging/static/fetch $(BUILD)/static/apt musl $(static_musl)
	touch $@

$(static_libuv)/fetched: packaging/static/fetch
	packaging/static/fetch $(BUILD)/static/apt libuv1 $(static_libuv)
	touch $@

# The agent with which `make size` measures is made like the upgrader: what the other C library does
# before it comes to main would be most of an agent's start, whoever starts it.
$(static)/stamp_agent: tests/benchmark/stamp_agent.c tests/benchmark/stamps.h $(static_libc) \
    packaging/static/layout.ld
	@mkdir -p $(@D)
	$(static_compile_c) -I. $(static_link_flags) -o $@ $<

# ---- the tests that the machine can run: all that use the program, or upgrades in an emulator

static_emulator_arm64 = qemu-aarch64
static_emulator_armhf = qemu-arm
# Without floating point, as in many routers: the program must have none.
static_emulator_mips = qemu-mips -cpu 24Kc
static_emulator_mipsel = qemu-mipsel -cpu 24Kc
static_emulator = $(if $(filter amd64,$(ARCH)),,$(or $(static_emulator_$(ARCH)),qemu-$(ARCH)))

# What tests/delivery/static tries: see there.
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

check-static:
	@tests/need-packages $(static_packages) $(if $(static_emulator),qemu-user,$(check_packages))
	@$(MAKE) $(jobs) --no-print-directory static-program
	@$(MAKE) $(jobs) --no-print-directory check-static-here

ifeq ($(ARCH),amd64)
check-static-here: $(upgrader_static) samples $(integration_tests) $(puppet)
	@UPGRADER=$(abspath $(upgrader_static)) ARCH=$(ARCH) tests/run $(BUILD) \
	  tests/delivery/static/run.sh \
	  $(integration_tests) tests/delivery/places/run.sh
else
# Agents are scripts, which the kernel gives to this machine's own shell. The upgrader looks first
# whether that is a program for its machine, so in the emulator one stands in its place.
check-static-here: $(upgrader_static)
	@mkdir -p $(static)/emulated/bin
	@ln -sf $(abspath $(upgrader_static)) $(static)/emulated/bin/sh
	@ARCH=$(ARCH) tests/run $(BUILD) tests/delivery/static/run.sh
	@timeout 120 tests/delivery/places/upgrades $(upgrader_static) \
	  $(static_emulator) -L $(abspath $(static)/emulated)
endif
