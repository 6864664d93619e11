# make packaging, make check-images, make npm, make wheels: what others build images and packages
# from. See README.md.

.PHONY: packaging check-images npm wheels
packaging: dist
	@packaging/fill $(version) $(archive_path) $(BUILD)/packaging
	@echo $(BUILD)/packaging

check-images:
	@tests/need-packages $(static_packages) buildah busybox-static procps util-linux
	@$(MAKE) $(jobs) --no-print-directory static-program
	@tests/delivery/packages/images $(upgrader_static) /bin/busybox
