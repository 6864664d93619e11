// The constants in which the variants of this agent differ: version, position format and fault. All
// variants share the rest of the code.
#pragma once

#include <agent-releases/version.h>

namespace sample_agent {

// The faults that a variant can have, for the demo and the tests.
enum class Fault {
  none,
  crash_at_start,
  hang_at_start,
  crash_on_trial,    // crashes soon after its activation, in the middle of a record
  slow_to_stop,      // takes two seconds to stop
  never_stops,       // ignores a stop, and continues to work
  writes_too_early,  // copies a line before it is activated
};

struct Variant {
  agent_releases::Version version;
  unsigned position_format = 1;  // the newest format of the position that this variant knows
  Fault fault = Fault::none;
};

extern const Variant variant;

}  // namespace sample_agent
