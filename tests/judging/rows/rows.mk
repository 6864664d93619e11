# make rows: what was asked for, and the tests that show it. `make check` runs it, too.

.PHONY: rows
rows:
	@tests/judging/rows/run
