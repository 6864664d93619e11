# make rows: lists the requirements, and the tests that show each. `make check` runs it, too.

.PHONY: rows
rows:
	@tests/judging/rows/run
