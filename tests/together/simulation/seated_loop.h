// The upgrader's real event loop, with the judge between the loop and its supervisor (seat.h).
#pragma once

#include "tests/together/simulation/swarm.h"

namespace upgrader::simulation {

// Runs the loop from the start to the upgrader's end. Returns the upgrader's exit status.
[[nodiscard]] int run_loop(const Swarm& swarm);

}  // namespace upgrader::simulation
