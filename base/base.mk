# Builds libbase.a, the code that several programs share. Each program links only the parts that it
# calls. No file in base/ includes a file from another directory.

base_files = $(patsubst %,base/%.cc,$(1))

# These parts are also compiled into the protocol's library (libagent-protocol), so that
# libagent-protocol can be installed without any other library of this project.
base_text_parts := $(call base_files,escape form json_line utf8)
base_text := $(call unit,base/text,$(base_text_parts))
# More parts of base/, which the upgrader links. They are also compiled with -fno-exceptions, for
# the static program. The simulation (a test on a simulated machine) links base_words_parts, but
# simulates processes and locks instead of linking base_process_parts.
base_words_parts := $(call base_files,argument check directory duration ending errno_name \
  no_wait number visible)
base_process_parts := $(call base_files,descriptors environment executable lock \
  process program)
base_upgrader_parts := $(base_words_parts) $(base_process_parts)
base_upgrader_objects := $(call unit,base/words,$(base_words_parts)) \
  $(call unit,base/process,$(base_process_parts))

# A part that libagent-releases contains in addition to base_text.
base_moment := $(call unit,base/moment,base/moment.cc)
# Parts that only the programs of tools/ and fleet/ link.
base_tools_parts := $(filter-out base/moment.cc $(base_text_parts) $(base_upgrader_parts), \
  $(wildcard base/*.cc))

base_library := $(BUILD)/libbase.a
$(base_library): $(base_text) $(base_moment) $(base_upgrader_objects) \
    $(call unit,base/tools,$(base_tools_parts))
	$(make_archive)
