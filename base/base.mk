# What several programs share and none owns: each takes of libbase.a what it calls. No file here
# includes one from outside.

base_files = $(patsubst %,base/%.cc,$(1))

# What the protocol's library has inside, so that it stands alone where it is installed.
base_text_parts := $(call base_files,escape form json_line utf8)
base_text := $(call unit,base/text,$(base_text_parts))
# All else that the upgrader links, which builds with -fno-exceptions, too. The simulation has none
# of those that start processes and lock files.
base_words_parts := $(call base_files,argument check directory duration ending errno_name \
  no_wait number visible)
base_process_parts := $(call base_files,descriptors environment executable lock \
  lock_holders process program vectors)
base_upgrader_parts := $(base_words_parts) $(base_process_parts)
base_upgrader_objects := $(call unit,base/words,$(base_words_parts)) \
  $(call unit,base/process,$(base_process_parts))

# What libagent-releases has inside beside the texts.
base_moment := $(call unit,base/moment,base/moment.cc)
# What only the programs of tools/ and fleet/ link.
base_tools_parts := $(filter-out base/moment.cc $(base_text_parts) $(base_upgrader_parts), \
  $(wildcard base/*.cc))

base_library := $(BUILD)/libbase.a
$(base_library): $(base_text) $(base_moment) $(base_upgrader_objects) \
    $(call unit,base/tools,$(base_tools_parts))
	$(make_archive)
