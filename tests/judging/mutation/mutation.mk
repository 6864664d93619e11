# make mutate: makes every small change of the sources, and checks whether the tests notice. LONG=1
# tries all of these changes; tests/judging/mutation/mutate has more settings. The instrumented copy
# of the project is built by the project's own rules, below $(BUILD)/mutation.

mutation_packages = $(check_packages) python3 python3-clang-14

.PHONY: mutate
mutate:
	@tests/need-packages $(mutation_packages)
	@mkdir -p $(BUILD)/mutation
	@LONG=$(LONG) SEED=$(SEED) SHELL_SECONDS=$(SHELL_SECONDS) PARTS='$(PARTS)' MUTANT=$(MUTANT) \
	  WORKERS=$(WORKERS) TELL=$(TELL) AGAIN=$(AGAIN) CASE_MS=$(CASE_MS) MUTANT_MS=$(MUTANT_MS) \
	  tests/judging/mutation/mutate $(BUILD)/mutation
