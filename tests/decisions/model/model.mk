# make model: checks a model of upgrader, agents, lock and init with the model checker spin. `make
# check` only compares the names of the model's phases with the supervisor's.

model_packages = spin gcc

.PHONY: model
model:
	@tests/need-packages $(model_packages) || { \
	  echo 'result: V3 | make model | spin is not to be had | 0 errors | not met: no spin'; \
	  exit 1; }
	@tests/decisions/model/run

unit_tests += $(BUILD)/tests/decisions/model/phase_names_test
