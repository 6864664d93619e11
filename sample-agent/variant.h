// One build of this source. Everything but variant.cc is the same in all of them.
#pragma once

#include <agent-releases/version.h>

namespace sample_agent {

// The fault of a variant: for the demo and the tests.
enum class Fault {
  none,
  crash_at_start,
  hang_at_start,
  crash_on_trial,    // soon after it was activated, in the middle of a record
  slow_to_stop,      // takes two seconds to stop
  never_stops,       // works on whatever it is told
  writes_too_early,  // copies a line before it was activated
};

struct Variant {
  agent_releases::Version version;
  unsigned position_format = 1;  // the newest that it knows
  Fault fault = Fault::none;
};

extern const Variant variant;

}  // namespace sample_agent
