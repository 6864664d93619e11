// The script of a check: a held agent must have no effect outside itself.
#pragma once

#include "tools/agent-conformance/script.h"

namespace conformance {

// Makes the script. The step `start` starts agent 0, which becomes ready and is held for a while.
// Then its input is closed, and the agent must exit. If strace can be used, all system calls of the
// agent are judged. Otherwise the check only finds out whether the agent listens on a socket.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
