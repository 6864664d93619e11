// The constants in which the variants of this agent differ: version, position format and fault. All
// other code is the same in every variant.
#pragma once

#include <agent-releases/version.h>

#include "sample-agent/configuration.h"

namespace sample_agent {

// The faults that a variant can have, for the demo and the tests.
enum class Fault {
  none,
  crash_at_start,
  hang_at_start,
  crash_on_trial,    // crashes soon after its activation, in the middle of a record
  slow_to_stop,      // takes two seconds to stop
  never_stops,       // ignores `stop`, and continues to work
  writes_too_early,  // copies a line before it is activated
};

struct Variant {
  agent_releases::Version version;
  unsigned position_format = 1;  // the newest format of the position that this variant knows
  Fault fault = Fault::none;
};

extern const Variant variant;

// ---- the faults of the faulty variants. A real agent has none.

// Crashes, hangs or writes to the output, if this variant has such a fault. Called at the agent's
// start, while the agent must not work yet.
void misbehave_at_start(const Configuration& configuration);

// Writes a part of a record, and crashes. Called when the agent is active, if this variant has the
// fault `crash_on_trial`.
[[noreturn]] void crash_while_writing(const Configuration& configuration);

}  // namespace sample_agent
