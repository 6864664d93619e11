# make analyze (V10): checks the code without running it, that of the upgrader and of the agent's
# library. LONG=1 adds tests and the sample agent, more tools, and the slow checks.

.PHONY: analyze analyze-here

analyze_packages = $(build_packages) clang-tidy-14 clang-14 cppcheck shellcheck binutils catch2

analyze:
	@tests/need-packages $(analyze_packages)
	@$(make_single) analyze-here
analyze-here: $(upgrader_library) $(protocol_library) $(if $(filter 1,$(LONG)),$(etcd_proto).cc)
	@tests/judging/analysis/analyze $(BUILD) $(if $(filter 1,$(LONG)),long)
