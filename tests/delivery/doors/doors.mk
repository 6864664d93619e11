# make check-doors: types the commands of README.md, "Five doors". Each of the five parts goes from
# nothing to a good upgrade and a bad one that falls back. Needs root, and takes two minutes.

.PHONY: check-doors
check-doors:
	@tests/need-packages $(build_packages) $(tool_packages) nginx-light etcd-server iproute2 \
	  util-linux
	@$(MAKE) $(jobs) --no-print-directory $(programs) $(sample_variant_files)
	@tests/run $(BUILD) tests/delivery/doors/doors
