# make check-languages: tests the libraries for agents in languages other than C and C++, and
# installs all tools that Debian has for these languages. `make check` tests only the languages
# whose tools are installed, and names the remaining languages. Debian's npm is installed only if
# there is no npm yet: a nodejs from another source brings its own npm, which conflicts with
# Debian's.
npm_package = $(if $(shell PATH=/usr/bin:/bin command -v npm),,npm)
languages_packages = $(build_packages) gcc python3 black flake8 mypy python3-build \
  python3-setuptools python3-wheel golang-go nodejs $(npm_package) node-typescript cargo rustc \
  rustfmt rust-clippy librust-libc-dev librust-serde-json-dev socat util-linux strace

long_tests += tests/together/languages/run

.PHONY: check-languages
check-languages:
	@tests/need-packages $(languages_packages)
	@$(MAKE) $(jobs) --no-print-directory $(programs)
	@BUILD=$(BUILD) tests/together/languages/run ALL

sanitized_tests += tests/together/languages/sanitized
