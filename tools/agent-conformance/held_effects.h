// The scene in which a held agent must do nothing that has an effect outside itself.
#pragma once

#include "tools/agent-conformance/script.h"

namespace conformance {

// Agent 0, started by this step, is ready and held for a while; then its input ends, and it exits.
// What it did is judged by what strace saw, or, where there is none, by whether it listens.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
