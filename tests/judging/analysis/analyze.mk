# make analyze (V10): what can be seen in the code without running it. Short: the upgrader and the
# agent's library. LONG=1: tests and sample agent too, by more, and the slow checks.

.PHONY: analyze analyze-here

analyze_packages = $(build_packages) clang-tidy-14 clang-14 cppcheck shellcheck binutils catch2

analyze:
	@tests/need-packages $(analyze_packages)
	@$(make_single) analyze-here
analyze-here: $(upgrader_library) $(protocol_library) $(if $(filter 1,$(LONG)),$(etcd_proto).cc)
	@tests/judging/analysis/analyze $(BUILD) $(if $(filter 1,$(LONG)),long)
