# upgrader: replaces a running agent by its next version, and falls back by itself.
# `make help` lists the targets.

BUILD ?= build
CXX ?= g++
CXXFLAGS ?= -O2 -g
CPPFLAGS += -I.
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
COMPILE = $(CXX) -std=c++20 $(WARNINGS) -fPIC $(CPPFLAGS) $(CXXFLAGS) -MMD -MP
LINK = $(CXX) $(CXXFLAGS) $(LDFLAGS)

protocol_objects := $(patsubst %.cc,$(BUILD)/%.o,$(wildcard agent-protocol/*.cc))
upgrader_objects := $(patsubst %.cc,$(BUILD)/%.o,$(filter-out upgrader/main.cc,$(wildcard upgrader/*.cc)))
protocol_library := $(BUILD)/libagent-protocol.a
upgrader_library := $(BUILD)/libupgrader.a

.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/upgrader $(protocol_library)

$(BUILD)/%.o: %.cc
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(protocol_library): $(protocol_objects)
	@rm -f $@
	ar rcs $@ $^

$(upgrader_library): $(upgrader_objects)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/upgrader: $(BUILD)/upgrader/main.o $(upgrader_library) $(protocol_library)
	$(LINK) -o $@ $^ -luv

# Every tests/DIR/NAME_test.cc is a program of its own: $(BUILD)/tests/DIR/NAME_test.
$(BUILD)/tests/%_test: $(BUILD)/tests/%_test.o $(BUILD)/tests/catch_main.o $(upgrader_library) $(protocol_library)
	$(LINK) -o $@ $^ -luv

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
