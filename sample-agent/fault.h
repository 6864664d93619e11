// The faults of the faulty variants of this agent. A real agent has no such file.
#pragma once

#include "sample-agent/configuration.h"

namespace sample_agent {

// Called at the start, while the agent is held: crashes, hangs or writes to the output, if this
// variant has such a fault.
void misbehave_at_start(const Configuration& configuration);

// Called when the agent is active: crashes in the middle of a record.
[[noreturn]] void crash_while_writing(const Configuration& configuration);

}  // namespace sample_agent
