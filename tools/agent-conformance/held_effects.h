// The scene in which a held agent must do nothing that has an effect outside itself.
#pragma once

#include "tools/agent-conformance/script.h"

namespace conformance {

// Agent 0, started by this step, is ready and held for a while; then its input ends, and it exits.
// Its deeds are judged by the lines of strace or, if there are none, by whether it listens.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
