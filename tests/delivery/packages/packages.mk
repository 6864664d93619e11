# make check-dist, make check-deb: test the results of `make dist` and `make deb`. make
# check-reproducible [PACKAGES="npm wheels deb"]: makes each of these packages twice, in copies of
# the tree with different paths, and compares the results. Everything is made anew, so this takes as
# long as making six such packages from nothing.

.PHONY: check-dist check-deb check-reproducible
check-dist: dist
	@tests/need-packages $(build_packages)
	@BUILD=$(BUILD) tests/delivery/packages/built_archive.sh $(archive_path)

check-deb:
	@tests/need-packages $(deb_packages)
	@BUILD=$(BUILD) tests/delivery/packages/packages.sh

PACKAGES ?= npm wheels deb
check-reproducible:
	@tests/delivery/packages/twice $(PACKAGES)
