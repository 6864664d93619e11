// Checks the rules for heartbeats, and for the messages to init that depend on them, at each step.
// Written from the pages alone; looks only at the supervisor's facts.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/canonical.h"

namespace upgrader::test {

// Returns, as texts, the rules that are broken by a step from `before`, in which `due` had passed,
// to `after`.
[[nodiscard]] std::vector<std::string> broken_vouching(const Policy& policy, const State& before,
                                                       const Due& due, const Event& event,
                                                       const Supervisor& after);

}  // namespace upgrader::test
