// The real loop, whose supervisor has a seat behind the judge (seat.h).
#pragma once

#include "tests/together/simulation/swarm.h"

namespace upgrader::simulation {

// From the start to the upgrader's end; returns its exit status.
[[nodiscard]] int run_loop(const Swarm& swarm);

}  // namespace upgrader::simulation
