# What several programs share and none owns: each takes of libbase.a what it calls. No file here
# includes one from outside.

base_files = $(patsubst %,base/%.cc,$(1))

# What the protocol's library has inside, so that it stands alone where it is installed.
base_text_parts := $(call base_files,escape form utf8)
json_parts := $(base_text_parts) agent-protocol/cpp/wire/json_line.cc
json_unit := $(call unit,base/text,$(json_parts))
# All else that the upgrader links, which builds with -fno-exceptions, too.
base_upgrader_parts := $(call base_files,argument descriptors duration environment errno_name \
  executable no_wait number visible)
base_upgrader_objects := $(call unit,base/upgrader,$(base_upgrader_parts))

base_library := $(BUILD)/libbase.a
$(base_library): $(json_unit) $(base_upgrader_objects); $(make_archive)
