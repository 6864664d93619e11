# The targets that judge the tests and the tree: make rows, mutate, verify, seeded, lines and
# check-targets.

# make rows: lists the project's requirements, which are called rows, and for each the tests that
# show that it is met. `make check` runs this, too.

.PHONY: rows
rows:
	@tests/judging/rows/run

# make mutate: makes small changes of the sources, called mutants, and checks whether the tests
# notice each change. LONG=1 tries all mutants; tests/judging/mutation/mutate has more settings. All
# mutants are compiled into one copy of the project, which lies below `$(BUILD)/mutation`. The
# project's own Makefile builds this copy.

mutation_packages = $(check_packages) python3 python3-clang-14

.PHONY: mutate
mutate:
	@tests/need-packages $(mutation_packages)
	@mkdir -p $(BUILD)/mutation
	@LONG=$(LONG) SEED=$(SEED) SHELL_SECONDS=$(SHELL_SECONDS) PARTS='$(PARTS)' MUTANT=$(MUTANT) \
	  WORKERS=$(WORKERS) TELL=$(TELL) AGAIN=$(AGAIN) CASE_MS=$(CASE_MS) MUTANT_MS=$(MUTANT_MS) \
	  tests/judging/mutation/mutate $(BUILD)/mutation

# make seeded: injects errors into the supervisor, one at a time. At least two layers of tests must
# find each error.
seeded_programs := $(addprefix $(BUILD)/tests/,decisions/explore/explore_test \
  decisions/explore/second_table_test decisions/scenario/scenario_test \
  decisions/unit/supervisor_test together/simulation/simulation_test)

.PHONY: verify seeded seeded-here lines check-targets
seeded:
	@tests/need-packages $(check_packages) python3
	@$(make_single) seeded-here
seeded-here: $(seeded_programs)
	@BUILD=$(BUILD) CXX='$(CXX)' \
	  ONLY='$(ONLY)' SIMULATION='$(simulation_wraps) $(simulation_objects) $(seated) -pthread' \
	  tests/judging/verify/seeded

# make verify: runs every layer of verification one after the other, and writes the table of
# results. `make verify STEPS="..."` runs only these steps. LONG=1 also runs the longest steps, and
# demands the full bars (values that the results must reach).
verify:
	@tests/need-packages $(check_packages) python3 git
	@BUILD=$(BUILD) LONG=$(LONG) tests/judging/verify/verify $(STEPS)

# make lines: counts the lines of code that the upgrader consists of.
lines:
	@tests/need-packages python3
	@tests/judging/verify/lines

# Tries every target of `make help-all`, each in its own clone of the repository. TARGETS limits
# this to the named targets.
check-targets:
	@tests/need-packages git
	@tests/judging/verify/targets $(TARGETS)
