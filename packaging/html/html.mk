# make html: makes a small site of the pages of man/, the front page and docs/.

html_packages = cmark-gfm mandoc python3
# A tidy check of `make check` makes the site and checks its links, so `make check` needs this
# package, too.
check_packages += cmark-gfm

.PHONY: html
html:
	@tests/need-packages $(html_packages)
	@packaging/html/site.py $(BUILD)/html
