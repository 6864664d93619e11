// Checks the rules for heartbeats, and for the messages to init that depend on them, at each step.
// Written from the pages alone; looks only at the supervisor's facts.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/canonical.h"

namespace upgrader::test {

// Checks the step from the state `before` to the supervisor `after`. `due` is the deadline that had
// passed, if one had. Returns the broken rules, each as a text.
[[nodiscard]] std::vector<std::string> broken_vouching(const Policy& policy, const State& before,
                                                       const Due& due, const Event& event,
                                                       const Supervisor& after);

}  // namespace upgrader::test
