# make bench, make size: build the measuring programs, the agent that these programs start, and the
# minimal program with which the upgrader is compared.

benchmark_programs := $(addprefix $(BUILD)/tests/benchmark/,bench bars minimal \
  stamp_agent ordinary_agent)
benchmark_mains := $(call objects,tests/benchmark/bench.cc tests/benchmark/bars.cc)
benchmark_objects := $(filter-out $(benchmark_mains),\
  $(call objects,$(wildcard tests/benchmark/*.cc)))

# `bench` and `bars` measure the upgrader's memory as PSS, which divides a page by the number of
# processes that map it. They are linked with the static C++ library: if they also mapped the shared
# one, the upgrader would seem smaller than it is.
$(BUILD)/tests/benchmark/bench $(BUILD)/tests/benchmark/bars: $(BUILD)/tests/benchmark/%: \
    $(BUILD)/objects/tests/benchmark/%.o $(benchmark_objects)
	@mkdir -p $(@D)
	$(LINK) -static-libstdc++ -static-libgcc -o $@ $^

benchmark_c_programs := $(addprefix $(BUILD)/tests/benchmark/,stamp_agent minimal)
$(benchmark_c_programs): $(BUILD)/%: $(BUILD)/objects/%.o
	@mkdir -p $(@D)
	$(CC) $(benchmark_link) -o $@ $^
# `stamp_agent` is linked statically: otherwise its start would mostly consist of loading shared
# libraries. `ordinary_agent` is for measuring gaps, the times without a working agent. Most of a
# gap is the exit of the old process, so this agent is linked like an ordinary program.
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

# Compares figures of the statically linked upgrader with their bars, the values that they must not
# exceed. Writes the figures into docs/measurements.md.
size:
	@tests/need-packages $(static_packages) $(build_packages) gcc tini python3
	@$(MAKE) $(jobs) --no-print-directory static-program $(BUILD)/upgrader $(benchmark_programs)
	@$(MAKE) --no-print-directory $(static)/stamp_agent
	@BUILD=$(BUILD) tests/benchmark/size $(upgrader_static) $(static)/stamp_agent
