// The script of the check that a held agent has no effect outside itself.
#pragma once

#include "tools/agent-conformance/script.h"

namespace conformance {

// Makes the script. The step `start` starts agent 0, which becomes ready and is held for a while.
// Then its input is closed, and it must exit. With strace, all system calls of the agent are
// judged; without strace, only whether it listens on a socket.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
