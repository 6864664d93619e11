# make bench, make size: builds the programs that measure, the agent that they start, and the
# minimal program with which the upgrader is compared.

benchmark_programs := $(addprefix $(BUILD)/tests/benchmark/,bench bars minimal \
  stamp_agent ordinary_agent)
benchmark_mains := $(call objects,tests/benchmark/bench.cc tests/benchmark/bars.cc)
benchmark_objects := $(filter-out $(benchmark_mains),\
  $(call objects,$(wildcard tests/benchmark/*.cc)))

# bench and bars have a copy of the C++ library of their own. A second process that maps the shared
# library would lower the upgrader's PSS, which they measure.
$(BUILD)/tests/benchmark/bench $(BUILD)/tests/benchmark/bars: $(BUILD)/tests/benchmark/%: \
    $(BUILD)/objects/tests/benchmark/%.o $(benchmark_objects)
	@mkdir -p $(@D)
	$(LINK) -static-libstdc++ -static-libgcc -o $@ $^

benchmark_c_programs := $(addprefix $(BUILD)/tests/benchmark/,stamp_agent minimal)
$(benchmark_c_programs): $(BUILD)/%: $(BUILD)/objects/%.o
	@mkdir -p $(@D)
	$(CC) $(benchmark_link) -o $@ $^
# stamp_agent loads no shared library: under every measured program, loading would take most of the
# agent's start. ordinary_agent, which is used to measure gaps, is linked like an ordinary program:
# the end of such a process is most of the gap.
$(BUILD)/tests/benchmark/stamp_agent: benchmark_link = -static
$(BUILD)/tests/benchmark/ordinary_agent: $(BUILD)/objects/tests/benchmark/stamp_agent.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^

bench_packages = $(build_packages) gcc tini runit s6 strace

.PHONY: bench size
bench:
	@tests/need-packages $(bench_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(benchmark_programs)
	@BUILD=$(BUILD) tests/benchmark/run

# Compares the static program with its bars, the values that it must not exceed, and writes the
# figures into docs/measurements.md.
size:
	@tests/need-packages $(static_packages) $(build_packages) gcc tini python3
	@$(MAKE) $(jobs) --no-print-directory static-program $(BUILD)/upgrader $(benchmark_programs)
	@$(MAKE) --no-print-directory $(static)/stamp_agent
	@BUILD=$(BUILD) tests/benchmark/size $(upgrader_static) $(static)/stamp_agent
