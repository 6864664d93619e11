# make analyze (V10): checks the code of the upgrader and of the agents' library without running it.
# LONG=1 also checks the tests and the sample agent, and adds further tools and the slow checks.

.PHONY: analyze analyze-here

analyze_packages = $(build_packages) clang-tidy-14 clang-14 cppcheck shellcheck binutils catch2

analyze:
	@tests/need-packages $(analyze_packages)
	@$(make_single) analyze-here
analyze-here: $(upgrader_library) $(protocol_library) $(if $(filter 1,$(LONG)),$(etcd_proto).cc)
	@tests/judging/analysis/analyze $(BUILD) $(if $(filter 1,$(LONG)),long)
