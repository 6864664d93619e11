// The upgrader's real event loop, as the simulation runs it: the simulation's judge (judge.h)
// stands between the loop and its supervisor, and sees every event and every action. See seat.h.
#pragma once

#include "tests/together/simulation/swarm.h"

namespace upgrader::simulation {

// Runs the loop from the start to the upgrader's end. Returns the upgrader's exit status.
[[nodiscard]] int run_loop(const Swarm& swarm);

}  // namespace upgrader::simulation
