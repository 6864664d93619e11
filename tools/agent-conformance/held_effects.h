// The script of the check that a held agent has no effect outside itself.
#pragma once

#include "tools/agent-conformance/script.h"

namespace conformance {

// Makes the script. The step `start` starts agent 0, which becomes ready and is held for a while.
// Then its input ends, and it exits. Its system calls are judged, as strace has reported them;
// without strace, only whether it listens.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
