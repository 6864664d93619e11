# make bench: the driver, the agent that it measures, and the least program to compare with.

benchmark_programs := $(addprefix $(BUILD)/tests/benchmark/,bench stamp_agent minimal)

# Its C++ library is its own: a second process that maps the shared one would lower the upgrader's
# PSS.
$(BUILD)/tests/benchmark/bench: $(call objects,$(wildcard tests/benchmark/*.cc))
	@mkdir -p $(@D)
	$(LINK) -static-libstdc++ -static-libgcc -o $@ $^

benchmark_c_programs := $(addprefix $(BUILD)/tests/benchmark/,stamp_agent minimal)
$(benchmark_c_programs): $(BUILD)/%: $(BUILD)/objects/%.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^

bench_packages = $(build_packages) gcc tini runit s6 strace

.PHONY: bench
bench:
	@tests/need-packages $(bench_packages)
	@$(MAKE) $(jobs) --no-print-directory $(BUILD)/upgrader $(benchmark_programs)
	@BUILD=$(BUILD) tests/benchmark/run
