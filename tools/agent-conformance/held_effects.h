// The script of a check that a held agent does nothing that has an effect outside itself.
#pragma once

#include "tools/agent-conformance/script.h"

namespace conformance {

// Makes the script. Agent 0, which the step `start` starts, is ready and held for a while; then its
// input ends, and it exits. It is judged by the lines of strace or, if there are none, by whether
// it listens.
[[nodiscard]] Script held_effects(Step start, const Terms& terms);

}  // namespace conformance
