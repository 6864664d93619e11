# The target `make html`: makes a small site of the pages of man/, the front page and docs/.

html_packages = cmark-gfm mandoc python3
# `make check` needs this package as well, since one of its tidy checks makes the site and checks
# the links in it.
check_packages += cmark-gfm

.PHONY: html
html:
	@tests/need-packages $(html_packages)
	@packaging/html/site.py $(BUILD)/html
