# make explore: tries every event in every state of the supervisor, compares each step with the
# second table, and prints result lines.

.PHONY: explore
explore_tests := $(addprefix $(BUILD)/tests/decisions/explore/,explore_test second_table_test)
explore:
	@tests/need-packages $(build_packages) catch2
	@$(MAKE) $(jobs) --no-print-directory $(explore_tests)
	@status=0; for test in $(explore_tests); do \
	  WHOLE=1 $$test '~[.],[walk]' >$$test.out || { cat $$test.out; status=1; }; \
	  grep -E '^(report|result|canary): ' $$test.out; done; exit $$status
