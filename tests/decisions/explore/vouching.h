// Checks at each step of the supervisor the rules for heartbeats, and for those messages to init
// that depend on heartbeats. Written from the manual pages alone. Reads only the supervisor's
// state, and the facts from which messages to init are made.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/canonical.h"

namespace upgrader::test {

// Checks one step of the supervisor, which has led from the state `before` to `after`. `due` names
// the deadline that had passed, or says that none had. Returns the broken rules, each as a text.
[[nodiscard]] std::vector<std::string> broken_vouching(const Policy& policy, const State& before,
                                                       const Due& due, const Event& event,
                                                       const Supervisor& after);

}  // namespace upgrader::test
