// The constants of one variant of the agent. This file is compiled once for each variant: see
// variants.mk.
#include "sample-agent/variant.h"

#include "sample-agent/position.h"

#ifndef SAMPLE_AGENT_VERSION
#define SAMPLE_AGENT_VERSION 1, 0, 0
#endif
#ifndef SAMPLE_AGENT_POSITION_FORMAT
#define SAMPLE_AGENT_POSITION_FORMAT position_format_max
#endif
#ifndef SAMPLE_AGENT_FAULT
#define SAMPLE_AGENT_FAULT none
#endif

namespace sample_agent {

const Variant variant{.version = {.numbers = {SAMPLE_AGENT_VERSION}, .prerelease = {}, .build = {}},
                      .position_format = SAMPLE_AGENT_POSITION_FORMAT,
                      .fault = Fault::SAMPLE_AGENT_FAULT};

}  // namespace sample_agent
