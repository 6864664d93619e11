# make check-dist, make check-deb: test the results of `make dist` and `make deb`.

.PHONY: check-dist check-deb
check-dist: dist
	@tests/need-packages $(build_packages)
	@BUILD=$(BUILD) tests/delivery/packages/built_archive.sh $(archive_path)

check-deb:
	@tests/need-packages $(deb_packages)
	@BUILD=$(BUILD) tests/delivery/packages/packages.sh
