# The top Makefile of upgrader, a program that replaces a running agent by its next version, and
# goes back by itself if that version fails. `make help` shows ten targets, `make help-all` all of
# them.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
DOCDIR ?= $(PREFIX)/share/doc/upgrader

CXX ?= g++
CXXFLAGS ?= $(optimization)
# Tools and fleet programs mostly wait for the network, for disks and for other programs, and tests
# are compiled more often than they run. So they are compiled with -O1, which takes a quarter less
# time than -O2.
optimization = -O2
$(foreach part,fleet tools tests,$(BUILD)/objects/$(part)/%.o $(BUILD)/objects/units/$(part)/%.o): \
  optimization = -O1
# Sources include a public header of agent-releases as <agent-releases/NAME.h>, as programs outside
# this tree do with the installed header.
CPPFLAGS += -I. -Itools/agent-releases/include
# Make file offsets and times 64 bits wide on every machine, even if glibc's default is 32.
wide_types = -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
# The flags by which installed programs and libraries check the bounds of buffers and containers
# and, on x86, the targets of indirect jumps. Tests are compiled without them, because they are
# compiled more often than they run. _FORTIFY_SOURCE has no effect without optimization.
x86 := $(filter x86_64 i686,$(shell uname -m))
HARDENING ?= -fstack-protector-strong -D_GLIBCXX_ASSERTIONS $(if $(x86),-fcf-protection) \
  $(if $(filter -O0,$(CXXFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
$(BUILD)/objects/tests/%.o $(BUILD)/objects/units/tests/%.o: HARDENING =
# Each function gets a section of its own, so that the linker can leave out functions that are not
# called.
COMPILE = $(CXX) -std=c++20 $(WARNINGS) -fPIC -ffunction-sections -fdata-sections $(wide_types) \
  $(HARDENING) $(CPPFLAGS) $(CXXFLAGS) $(gcc_heap) -MMD -MP
# By default, GCC spends a tenth of its time on freeing memory. With a minimum heap of 1 GiB, it
# frees memory only for the few largest units (files that are compiled together), which then need
# 1.8 GB instead of 1.5 GB.
gcc_heap := $(if $(findstring g++,$(shell $(CXX) --version 2>/dev/null | head -n 1)), \
  --param ggc-min-heapsize=1048576)
LINK = $(CXX) $(CXXFLAGS) -Wl,--gc-sections $(LDFLAGS)

version := $(shell sed -n 's/.*upgrader_version\[\] = "\(.*\)".*/\1/p' base/version.h)
soname := libagent-protocol.so.1

# The Debian 12 packages that are needed to build, and to run `make check`.
build_packages = g++ libuv1-dev libcereal-dev
check_packages = $(build_packages) gcc catch2 mandoc strace pkg-config clang-format-14 python3 zsh \
  git

# Use all processors, unless make was started with -j.
jobs = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# Object files are below $(BUILD)/objects. They cannot be in $(BUILD)/upgrader, which is the
# program.
objects = $(patsubst %.cc,$(BUILD)/objects/%.o,$(1))

# Compiling spends most of its time on headers, so some dozens of sources are compiled together as
# one unit: $(call unit,NAME,SOURCES) is the object of a generated file that includes them all. With
# SINGLE=1 each source has an object of its own, for targets that inspect or replace objects.
# SINGLE=1 needs its own BUILD directory.
unit = $(eval unit_$(1) := $(2))$(if $(SINGLE),$(call objects,$(2)),$(BUILD)/objects/units/$(1).o)
single := $(BUILD)/single
make_single = $(MAKE) $(jobs) --no-print-directory BUILD=$(single) SINGLE=1

# A wing is a program into which the tests of one or more directories are linked, to save time. Each
# test is a link to this program: main(), in catch_main.cc, runs only the tests of the source file
# that has the link's name. $(call wing,PROGRAM,FILES) makes the links. parted_wing makes no links
# if SINGLE=1 is set, since each test is then a program of its own.
define wing_links
$(patsubst %.cc,$(BUILD)/%,$(2)): $(BUILD)/tests/$(1)
	@mkdir -p $$(@D)
	@ln -sfr $$< $$@
endef
wing = $(eval $(call wing_links,$(1),$(2)))
parted_wing = $(if $(SINGLE),,$(call wing,$(1),$(2)))
link_wing = @mkdir -p $(@D) && $(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^)
catch_main := $(BUILD)/objects/tests/catch_main.o

include base/base.mk

protocol_objects := $(base_text) \
  $(call unit,agent-protocol/wire,$(wildcard agent-protocol/cpp/wire/*.cc)) \
  $(call unit,agent-protocol/session,$(wildcard agent-protocol/cpp/session/*.cc)) \
  $(call unit,agent-protocol/agent,$(wildcard agent-protocol/cpp/agent/*.cc))
# The sources of upgrader/shell are compiled as three units, since the simulation (a test on a
# simulated machine) uses only two of them. It compiles the event loop (upgrader_loop) once more,
# with test code between the loop and its supervisor. It links upgrader_life unchanged.
upgrader_loop := $(addprefix upgrader/shell/,loop.cc loop_actions.cc loop_start.cc)
upgrader_life := $(patsubst %,upgrader/shell/%.cc,agents channel control init_system log)
upgrader_objects := $(base_upgrader_objects) \
  $(call unit,upgrader/core,$(wildcard upgrader/wire/*.cc upgrader/core/*.cc)) \
  $(call unit,upgrader/loop,$(upgrader_loop)) \
  $(call unit,upgrader/life,$(upgrader_life)) \
  $(call unit,upgrader/shell, \
    $(filter-out $(upgrader_loop) $(upgrader_life),$(wildcard upgrader/shell/*.cc)))
# Code that several tests share, mostly compiled in units. Programs without Catch2 link only the
# units walks and processes, and the files inputs.cc and source_directory.cc. source_directory.cc is
# compiled by itself, because a macro gives it the path of the source tree.
walk_support := $(call unit,tests/support/walks, \
  $(patsubst %,tests/support/%.cc,actions every_event print watcher) \
  $(patsubst %,tests/decisions/explore/%.cc,canonical event_class explorer story))
integration_support = $(patsubst %,tests/together/integration/%.cc,$(1))
support_objects := $(walk_support) \
  $(call unit,tests/support/second_table,tests/decisions/explore/walks.cc \
    $(filter-out %_test.cc,$(wildcard tests/decisions/explore/second_*.cc))) \
  $(call unit,tests/support/scenarios,$(patsubst %,tests/support/%.cc,bench phase_table scenario)) \
  $(call unit,tests/together/integration/processes, \
    $(call integration_support,process_table puppet_rules)) \
  $(call unit,tests/together/integration/world, \
    $(call integration_support,world json puppet_handle)) \
  $(call objects,tests/support/inputs.cc tests/support/source_directory.cc)
protocol_library := $(BUILD)/libagent-protocol.a
# The library for programs that send requests to an upgrader through its control directory. It is
# not installed.
control_library := $(BUILD)/libagent-control.a
upgrader_library := $(BUILD)/libupgrader.a
support_library := $(BUILD)/tests/libsupport.a

unit_tests := $(patsubst %.cc,$(BUILD)/%, \
  $(wildcard tests/decisions/unit/*_test.cc tests/decisions/scenario/*_test.cc \
  tests/decisions/explore/*_test.cc))
integration_tests := $(patsubst %.cc,$(BUILD)/%, \
  $(wildcard tests/together/integration/*_test.cc tests/together/regression/*_test.cc))
# More tests for `make check`, besides unit_tests and integration_tests. The .mk files in the
# directories of tests add to this list.
layer_tests :=
# Tests for `make check-all` only: they take more than ten seconds of processor time, or need root,
# the network or packages that are not in check_packages. The .mk files in the directories of tests
# add to this list. tidy/compiling is a test of its own, because tidy/run.sh would take ten seconds
# with it.
long_tests := $(BUILD)/tests/decisions/explore/second_table_test \
  $(addprefix tests/judging/tidy/,compiling canaries) tests/delivery/completion/companions \
  $(addprefix tests/delivery/packages/,archive.sh fetch.sh)
# The slowest tests. They start first, so that the end of `make check` does not wait for one of
# them.
slow_tests = $(addprefix $(BUILD)/tests/,decisions/explore/second_table_test \
  decisions/explore/explore_test \
  together/integration/sample_agent_test together/integration/freeze_test)
# The agent of the integration tests, which follows the orders of a test. It contains no code of the
# tested programs.
puppet := $(BUILD)/tests/together/integration/puppet
programs := $(BUILD)/upgrader $(protocol_library) $(BUILD)/$(soname)

.DEFAULT_GOAL := all
.SUFFIXES:
.PRECIOUS: $(BUILD)/objects/%.o $(BUILD)/units/%.cc
.DELETE_ON_ERROR:
.PHONY: always all programs samples demo check check-built check-here check-all check-all-here \
  quick install uninstall clean help help-all packages dist deb

# Lists for the programs that run beside the upgrader on one machine. The .mk file of each directory
# below tools/ adds to them. `make` builds tool_programs and tool_libraries; `make install` installs
# these and tool_headers. `make check` runs tool_tests, which need the Debian packages
# tool_packages. Packages for the programs themselves are added to build_packages.
tool_programs :=
tool_libraries :=
tool_headers :=
tool_tests :=
tool_packages :=
include $(wildcard tools/*/*.mk)
# The .mk files of fleet/ add the fleet's programs, which run on many machines, to the lists above.
include $(wildcard fleet/*.mk fleet/*/*.mk)
programs += $(tool_programs) $(tool_libraries)
check_packages += $(tool_packages)

# The .mk files in the directories of tests add programs, targets, and tests for `make check`.
include $(wildcard tests/*/*.mk tests/*/*/*.mk)

all: programs samples

# Shows the ten targets that most people need. `make help-all` shows all targets.
help:
	@echo 'make            build all that is installed, into $(BUILD)/'
	@echo 'make demo       install what is missing, build, and watch live upgrades, good and bad'
	@echo 'make quick      what a change of the decisions needs: units, scenarios, every state'
	@echo 'make check      install what is missing, build and run all tests'
	@echo 'make install    honours PREFIX and DESTDIR; make uninstall takes it back'
	@echo 'make html       the pages and docs/ as one small site, in $(BUILD)/html'
	@echo 'make deb        packages for Debian in $(BUILD)/deb/, tried in a Debian of their own'
	@echo 'make static     one small file without any library, by musl (ARCH=amd64|arm64|...)'
	@echo 'make verify     every layer of verification; its figures go into tests/VERIFICATION.md'
	@echo 'make clean      remove $(BUILD)/'
	@echo
	@echo 'make help-all shows all other targets.'

help-all:
	@$(MAKE) -s help | sed '/^$$/,$$d'
	@echo
	@echo 'make check-all         the tests that take longest, which make check leaves out'
	@echo 'make check-daemons     real daemons under agentify; the figures go into its page'
	@echo 'make kill-agentify     agentify and what is around it, killed at every step'
	@echo 'make fault-agentify    system calls of agentify that fail, one a life'
	@echo 'make check-languages   the libraries for Python, Go, Rust, JavaScript, with their tools'
	@echo 'make check-agents      agents right and wrong, in all languages, judged by a kit'
	@echo 'make fleet-demo        six machines: rollouts, good and bad, and a driver and the store die'
	@echo 'make fleet-check       many machines: all that is promised of them, on real members of etcd'
	@echo 'make fleet-kill         drivers and fleet-agents killed behind 1,000 transactions (KILLS=N)'
	@echo 'make fleet-hour         the same for an hour, members of etcd killed, too (SECONDS=N)'
	@echo 'make fuzz-records       records that somebody writes by chance (SECONDS=N; SEED=N)'
	@echo 'make bench-fleet        what a rollout itself costs, and how soon it has a new driver'
	@echo 'make rows       what was asked for, row by row, and the tests that show it'
	@echo 'make bench      measure, as ratios to other programs in the same run'
	@echo 'make check-static   the integration tests on it; or upgrades in an emulator'
	@echo 'make static-tools   upgraderctl, agentify, agent-releases, static (ARCH=amd64|mipsel|...)'
	@echo 'make check-static-tools   tests of these three; for another processor in an emulator'
	@echo 'make size       hold it to its bars; the figures go into docs/measurements.md'
	@echo 'make npm        tarballs for npm, in $(BUILD)/npm/; make wheels: wheels for pip'
	@echo 'make check-reproducible   packages made twice, on two paths, are the same bytes'
	@echo 'make check-doors   the commands of the five doors in README.md, as they are printed'
	@echo 'make check-images   a container image from scratch; make packaging: recipes for others'
	@echo 'make dist       the release archive; make check-dist builds it without network and git'
	@echo 'make check-targets   each of these targets alone, in a fresh clone (TARGETS="quick size")'
	@echo
	@echo 'The layers of make verify, each by itself; short, or with LONG=1 to the full bar:'
	@echo 'make explore    every state of the supervisor, and a second table along the way'
	@echo 'make seeded     errors seeded in the supervisor, each to be caught by two layers'
	@echo 'make model      a model of upgrader, agents, lock and init, by spin (ONLY=NAME)'
	@echo 'make mutate     small changes to the code, each to be noticed by a test'
	@echo 'make simulate   random lives on a simulated machine (SEEDS=N; SEED=N TRACE=1)'
	@echo 'make fuzz       libFuzzer on all that takes bytes (SECONDS=N)'
	@echo 'make fault      system calls of the real program that fail (ONLY=NAME)'
	@echo 'make kill       upgrades struck at every step (ONLY=NAME)'
	@echo 'make crash      what a power cut may leave, and what is made of it (ONLY=NAME)'
	@echo 'make check-power    a virtual machine whose power is cut (FS=ext4 CUTS=30; LONG=1)'
	@echo 'make check-hangs    hangs on a virtual machine with a hardware watchdog (LONG=1)'
	@echo 'make check-fat      a disk without links and FIFOs, in a virtual machine'
	@echo 'make check-memory   the memory and the flash that a small MIPS device needs'
	@echo 'make check-recipes  the lines for boot counters in docs/small-machines.md, as root'
	@echo 'make crash-releases   agent-releases killed at every call, and after power cuts'
	@echo 'make check-projects   projects packed by the real npm and pip (NETWORK=1)'
	@echo 'make check-updates    daemons that update themselves by the real npm and pip'
	@echo 'make check-pm2   the same beside pm2, killed and with bad versions (needs the network)'
	@echo 'make fuzz-releases    libFuzzer on all bytes that it takes (SECONDS=N)'
	@echo 'make bench-releases   its speed and memory; make endurance-releases: 10,000 adds'
	@echo 'make sanitize   the tests under AddressSanitizer and UBSan'
	@echo 'make analyze    clang-tidy, cppcheck, both compilers, symbols of the core'
	@echo 'make check-init real init systems as process 1, and the service files (ONLY=NAME)'
	@echo 'make explore-fleet    every order of events in small rollouts, plans and nodes'
	@echo 'make simulate-fleet   random rollouts and plans, whoever dies (RUNS=N; SEED=N)'
	@echo 'make judge      how often a good version is stopped, how far a bad one comes (RUNS=N)'
	@echo 'make simulate-fleet-day   a day of them, by the real store client (HOURS=N; SEED=N)'
	@echo 'make coverage   branches that no test takes'
	@echo 'make lines      how much there is to be read of the program'
	@echo 'make endurance  1,000 upgrades of one upgrader, 3 of 10 bad (10,000)'

# ---- programs and libraries

$(BUILD)/objects/%.o: %.cc
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

# Writes the source of a unit, which includes each of the unit's files. If the file exists and would
# stay the same, leaves it alone, so that make does not compile the unit again.
$(BUILD)/units/%.cc: always
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(unit_$*) | cmp -s - $@ || printf '#include "%s"\n' $(unit_$*) >$@
# A unit is several sources that are compiled together, so a name in one source may shadow a name in
# another, which is not an error. `make analyze` compiles each file by itself, and gives these
# warnings.
$(BUILD)/objects/units/%.o: WARNINGS += -Wno-shadow -Wno-subobject-linkage -Wno-maybe-uninitialized
$(BUILD)/objects/units/%.o: $(BUILD)/units/%.cc
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/objects/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c99 -Wall -Wextra -Wpedantic -D_GNU_SOURCE $(wide_types) -O2 -I. -MMD -MP -c -o $@ $<

# Only the C interface is visible outside the library, so the rest can change without a new soname.
$(protocol_objects): CXXFLAGS += -fvisibility=hidden

define make_archive
@mkdir -p $(@D)
@rm -f $@
ar rcs $@ $^
endef
$(protocol_library): $(protocol_objects); $(make_archive)
$(control_library): $(call unit,agent-protocol/control,$(wildcard agent-protocol/cpp/control/*.cc))
	$(make_archive)
$(upgrader_library): $(upgrader_objects); $(make_archive)
$(support_library): $(support_objects); $(make_archive)

$(BUILD)/$(soname): $(protocol_objects) agent-protocol/agent-protocol.map
	$(LINK) -shared -Wl,-soname,$(soname) -Wl,--version-script,agent-protocol/agent-protocol.map \
	  -Wl,-z,defs -o $@ $(protocol_objects)

$(BUILD)/upgrader: $(BUILD)/objects/upgrader/main.o $(upgrader_library) $(protocol_library)
	$(LINK) -o $@ $^ -Wl,--as-needed -luv $(LDLIBS)

include sample-agent/variants.mk
include packaging/static/static.mk packaging/packaging.mk
# Let the loader fill in all tables of addresses at the start, and then make them read-only, so that
# an attacker cannot overwrite them.
$(filter-out %.a,$(programs)) $(sample_agent): LDFLAGS += -Wl,-z,relro,-z,now
programs: $(programs) $(sample_agent)
samples: $(sample_agent) $(sample_variant_files)

# ---- tests: every tests/DIR/NAME_test.cc can be run by itself

$(BUILD)/objects/tests/support/source_directory.o: CPPFLAGS += -DSOURCE_DIRECTORY='"$(CURDIR)"'
# Unit tests and integration tests are compiled without optimization, since they are compiled more
# often than they run. The tests that walk through every state of the supervisor are compiled with
# -O2, by which they take a fifth less time than with -O1.
$(walk_support) $(patsubst %,$(BUILD)/objects/units/tests/%.o,support/second_table \
  decisions/explore/wing): optimization = -O2
$(BUILD)/objects/tests/decisions/unit/%.o $(BUILD)/objects/tests/together/integration/%.o \
  $(BUILD)/objects/units/tests/decisions/unit/%.o \
  $(BUILD)/objects/units/tests/together/integration/%.o: \
  CXXFLAGS += -O0
# The main of Catch2 is optimized and linked first. The linker then takes the standard library's
# templates from it, so all tests run faster.
$(BUILD)/objects/tests/catch_main.o: CXXFLAGS += -O1

$(BUILD)/tests/%_test: $(BUILD)/objects/tests/%_test.o $(BUILD)/objects/tests/catch_main.o \
    $(support_library) $(upgrader_library) $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -luv

# stock_archive_test adds declarations to a namespace of the tested code, so it is compiled alone.
# The tests that count allocated bytes (counting_files) are in one unit, since they share one
# replacement of operator new.
lone_tests := tests/decisions/unit/stock_archive_test.cc
unit_files := $(filter-out $(lone_tests),$(wildcard tests/decisions/unit/*_test.cc))
failing_files := $(filter tests/decisions/unit/failing_%,$(unit_files))
sample_files := $(filter tests/decisions/unit/sample_%,$(unit_files))
counting_files := $(addprefix tests/decisions/unit/,channel_test.cc json_line_test.cc \
  line_reader_test.cc)
plain_files := $(filter-out $(failing_files) $(sample_files) $(counting_files),$(unit_files))
early_files := $(filter $(wildcard tests/decisions/unit/[a-e]*),$(plain_files))
late_files := $(counting_files) $(filter-out $(early_files),$(plain_files))
$(call parted_wing,decisions/unit/wing,$(early_files) $(late_files))
$(BUILD)/tests/decisions/unit/wing: $(call unit,tests/decisions/unit/early,$(early_files)) \
    $(call unit,tests/decisions/unit/late,$(late_files)) \
    $(catch_main) $(support_library) $(upgrader_library) $(protocol_library)
	$(link_wing) -luv
$(call parted_wing,decisions/unit/failing,$(failing_files))
$(BUILD)/tests/decisions/unit/failing: $(call unit,tests/decisions/unit/failing,$(failing_files)) \
    $(catch_main) $(support_library) $(upgrader_library) $(protocol_library)
	$(link_wing) -luv
$(call parted_wing,decisions/unit/samples,$(sample_files))
$(BUILD)/tests/decisions/unit/samples: $(catch_main) \
    $(call unit,tests/decisions/unit/samples,$(sample_files)) \
    $(demo_library) $(sample_library) $(releases_library) $(support_library) $(upgrader_library) \
    $(protocol_library)
	$(link_wing) -luv -lsodium

integration_files := $(wildcard tests/together/integration/*_test.cc \
  tests/together/regression/*_test.cc)
early_integration := $(filter $(wildcard tests/together/integration/[a-l]*),$(integration_files))
late_integration := $(filter-out $(early_integration),$(integration_files))
$(call parted_wing,together/integration/wing,$(integration_files))
$(BUILD)/tests/together/integration/wing: \
    $(call unit,tests/together/integration/early,$(early_integration)) \
    $(call unit,tests/together/integration/late,$(late_integration)) \
    $(catch_main) $(demo_library) $(sample_library) $(support_library) $(upgrader_library) \
    $(protocol_library)
	$(link_wing) -luv

# A program with three groups of tests: walks through all states of the supervisor, all scenarios,
# and a comparison of the supervisor's phases with those in the model.
walk_files := $(wildcard tests/decisions/explore/*_test.cc tests/decisions/scenario/*_test.cc \
  tests/decisions/model/*_test.cc)
$(call parted_wing,decisions/explore/wing,$(walk_files))
$(BUILD)/tests/decisions/explore/wing: $(call unit,tests/decisions/explore/wing,$(walk_files)) \
    $(catch_main) $(support_library) $(upgrader_library) $(protocol_library)
	$(link_wing) -luv

# c_interface_test is written in C, to test that a C compiler accepts the C interface.
unit_tests += $(BUILD)/tests/decisions/unit/c_interface_test
$(BUILD)/tests/decisions/unit/c_interface_test: \
  $(BUILD)/objects/tests/decisions/unit/c_interface_test.o \
    $(protocol_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

$(puppet): $(BUILD)/objects/tests/together/integration/puppet.o $(support_library)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

packages:
	@tests/need-packages $(build_packages)

# Names the packages that are not installed, before the build fails for lack of them.
check:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory check-here

# The tests to run after a change of the upgrader's decisions: the unit tests, the scenarios, and
# the two walks through every state. The sample agent's unit tests are left out, because they are
# slow and test no decision.
walks = $(addprefix $(BUILD)/tests/decisions/explore/,second_table_test explore_test)
quick_tests = $(walks) $(filter-out $(walks) $(BUILD)/tests/decisions/unit/sample_%,$(unit_tests))
quick:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory $(quick_tests)
	@tests/run $(BUILD) $(quick_tests)

# The test floating_point is run on x86_64 only, since it knows the instructions of no other
# processor.
floating_point = $(if $(filter x86_64,$(shell uname -m)),tests/judging/analysis/floating_point)
check-built: $(programs) samples $(unit_tests) $(integration_tests) $(puppet) \
    $(filter $(BUILD)/%,$(layer_tests) $(tool_tests))
delivery_tests = $(addprefix tests/delivery/,install/run.sh install/procd.sh completion/run \
  completion/companions abi/run.sh packages/archive.sh packages/recipes places/run.sh)
every_test = $(slow_tests) $(addprefix tests/judging/tidy/,run.sh canaries) \
  tests/together/languages/run $(delivery_tests) $(floating_point) tests/judging/rows/run \
  $(filter-out $(slow_tests), \
  $(layer_tests) $(integration_tests) $(unit_tests) $(tool_tests))
# Runs the tests of `make check`. With PROCESSOR_TIMES=FILE, it also writes to FILE how many seconds
# of processor time each test has taken.
check-here: check-built
	@tests/run $(BUILD) $(filter-out $(long_tests),$(every_test))

check-all:
	@tests/need-packages $(check_packages)
	@$(MAKE) $(jobs) --no-print-directory check-all-here
check-all-here: check-built
	@tests/run $(BUILD) $(long_tests)

demo:
	@tests/need-packages $(build_packages) python3
	@$(MAKE) $(jobs) --no-print-directory samples \
	  $(addprefix $(BUILD)/,upgrader upgraderctl agent-releases)
	@BUILD=$(BUILD) $(BUILD)/tests/demo/live_demo $(BUILD)/upgrader $(BUILD)/sample-agent/variants
	@BUILD=$(BUILD) tests/demo/operator
	@BUILD=$(BUILD) tests/demo/releases

# ---- installation

# The installed paths of the public headers of tools/: the header tools/TOOL/include/DIR/NAME.h is
# installed as $(PREFIX)/include/DIR/NAME.h.
installed_headers = $(foreach header,$(tool_headers), \
  $(PREFIX)/include/$(lastword $(subst /include/, ,$(header))))

# Directories in which other packages may have files, too: uninstalling removes them only if they
# are empty.
own_directories = $(LIBDIR)/pkgconfig $(PREFIX)/include/agent-protocol \
  $(sort $(dir $(installed_headers))) \
  $(BASHDIR) $(dir $(BASHDIR)) $(ZSHDIR) $(dir $(ZSHDIR)) $(DOCDIR)/examples \
  $(addprefix $(DOCDIR)/examples/,agentify fleet hello-agent) $(DOCDIR) \
  $(foreach section,1 3 7 8,$(MANDIR)/man$(section))

# The hello-agents are small examples that users copy. Those in C, C++ and shell are installed
# alone. Those in Python, Go, JavaScript and Rust are installed with the project's libraries for
# these languages, which no other Debian package contains.
hello_in_c = $(wildcard sample-agent/hello/*)
hello_beside_libraries = $(filter-out %_test.go,$(wildcard $(addprefix agent-protocol/, \
  $(addprefix python/,README.md pyproject.toml agent_protocol/*.py agent_protocol/py.typed \
    examples/*) \
  $(addprefix go/,README.md go.mod *.go hello-agent/*) \
  $(addprefix javascript/,README.md package.json index.* lib/* examples/*) \
  $(addprefix rust/,README.md Cargo.toml .cargo/* src/* examples/*))))

# Programs whose options shells complete. The fleet's programs share one completion file for each
# shell, which is installed under the name of each program.
completed = fleetctl fleet-agent fleet-controller fleet-signer $(filter-out fleet, \
  $(patsubst packaging/completion/%.bash,%,$(wildcard packaging/completion/*.bash)))
zsh_shared = upgrader_durations

install: programs
	install -d $(addprefix $(DESTDIR),$(PREFIX)/bin $(own_directories))
	install -m 755 $(BUILD)/upgrader $(sample_agent) $(tool_programs) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(protocol_library) $(tool_libraries) $(DESTDIR)$(LIBDIR)
	for header in $(tool_headers); do \
	  install -m 644 $$header $(DESTDIR)$(PREFIX)/include/$${header##*/include/}; done
	install -m 755 $(BUILD)/$(soname) $(DESTDIR)$(LIBDIR)
	ln -sf $(soname) $(DESTDIR)$(LIBDIR)/libagent-protocol.so
	install -m 644 agent-protocol/agent_protocol.h agent-protocol/agent.h \
	  $(DESTDIR)$(PREFIX)/include/agent-protocol
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' \
	  -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
	  agent-protocol/agent-protocol.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/agent-protocol.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/agent-protocol.pc
	for section in 1 3 7 8; do \
	  install -m 644 man/*.$$section $(DESTDIR)$(MANDIR)/man$$section; done
	for name in $(completed); do \
	  case $$name in fleet*) from=fleet ;; *) from=$$name ;; esac; \
	  install -m 644 packaging/completion/$$from.bash $(DESTDIR)$(BASHDIR)/$$name; \
	  install -m 644 packaging/completion/$$from.zsh $(DESTDIR)$(ZSHDIR)/_$$name; done
	install -m 644 packaging/completion/upgrader-words.sh $(DESTDIR)$(BASHDIR)
	for name in $(zsh_shared); do \
	  install -m 644 packaging/completion/$$name.zsh $(DESTDIR)$(ZSHDIR)/_$$name; done
	cp -R sample-agent/init/. $(DESTDIR)$(DOCDIR)/examples
	cp -R tools/agentify/init/. $(DESTDIR)$(DOCDIR)/examples/agentify
	cp -R fleet/init/. $(DESTDIR)$(DOCDIR)/examples/fleet
	cp $(hello_in_c) $(DESTDIR)$(DOCDIR)/examples/hello-agent
	tar -c -C agent-protocol $(hello_beside_libraries:agent-protocol/%=%) | \
	  tar -x --no-same-owner -C $(DESTDIR)$(DOCDIR)/examples/hello-agent
	find $(DESTDIR)$(DOCDIR)/examples -type f -exec sed -i 's|/usr/local/bin/|$(PREFIX)/bin/|g' {} +
	chmod -R u=rwX,go=rX $(DESTDIR)$(DOCDIR)/examples

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,upgrader sample-agent $(notdir $(tool_programs)))
	rm -f $(DESTDIR)$(LIBDIR)/libagent-protocol.a $(DESTDIR)$(LIBDIR)/libagent-protocol.so \
	  $(DESTDIR)$(LIBDIR)/$(soname) $(DESTDIR)$(LIBDIR)/pkgconfig/agent-protocol.pc
	rm -f $(DESTDIR)$(PREFIX)/include/agent-protocol/agent_protocol.h \
	  $(DESTDIR)$(PREFIX)/include/agent-protocol/agent.h
	rm -f $(addprefix $(DESTDIR),$(addprefix $(LIBDIR)/,$(notdir $(tool_libraries))) \
	  $(installed_headers))
	rm -rf $(DESTDIR)$(DOCDIR)/examples
	for page in man/*.[1378]; do \
	  rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	rm -f $(addprefix $(DESTDIR)$(BASHDIR)/,$(completed) upgrader-words.sh)
	rm -f $(addprefix $(DESTDIR)$(ZSHDIR)/_,$(completed) $(zsh_shared))
	-for directory in $(own_directories); do test ! -d $(DESTDIR)$$directory || \
	  rmdir --ignore-fail-on-non-empty $(DESTDIR)$$directory; done

# ---- releases: an archive, packages for Debian

archive := upgrader-$(version)
archive_path := $(BUILD)/$(archive).tar.gz
# Two archives of one commit are equal to the byte: each file in them gets the time of the release.
archive_date = $(shell date -d "$$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)
packed = tar -c --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
  --mode=u=rwX,go=rX --mtime=@$(archive_date)

# Copies the source tree, without built files, to a new directory.
copy_tree = mkdir -p $(1) && . tests/judging/tidy/files.sh && \
  tree_files | tar -c -T - | tar -x -C $(1)

# Makes an archive of the last commit, or of the source tree if there is no git repository.
dist:
	@rm -rf $(BUILD)/dist
	@mkdir -p $(BUILD)/dist/$(archive)
	@if test -e .git; then \
	  git diff --quiet HEAD || echo 'make dist: what is not committed is left out' >&2; \
	  git archive HEAD | tar -x -C $(BUILD)/dist/$(archive); \
	else $(call copy_tree,$(BUILD)/dist/$(archive)); fi
	@$(packed) -C $(BUILD)/dist $(archive) | gzip -9n > $(archive_path)
	@rm -rf $(BUILD)/dist
	@echo $(archive_path)

# Makes Debian packages of the source tree as it is. check-deb then inspects and tries them. Leaves
# out debugging symbols, whose packages would be ten times as large as the others.
deb_packages = build-essential debhelper lintian mmdebstrap pkgconf
deb_environment = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD \
  DEB_BUILD_OPTIONS='parallel=$(shell nproc) noautodbgsym'
deb:
	@tests/need-packages $(build_packages) $(deb_packages)
	@rm -rf $(BUILD)/deb
	@$(call copy_tree,$(BUILD)/deb/$(archive))
	@cd $(BUILD)/deb/$(archive) && if ! $(deb_environment) dpkg-buildpackage -us -uc \
	  >../build.log 2>&1; then tail -n 40 ../build.log; exit 1; fi
	@$(MAKE) --no-print-directory check-deb

clean:
	rm -rf $(BUILD)

# Includes the dependency files *.d below $(BUILD). Skips directories that hold whole systems or
# unpacked packages, since a file *.d in them is not a dependency file.
foreign = $(patsubst %,-path $(BUILD)/% -prune -o,roots deb init mutation static/tools)
-include $(shell find $(BUILD) $(foreign) -type f -name '*.d' -print 2>/dev/null)
