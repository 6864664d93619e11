// Runs the simulation with one seed: the upgrader's real event loop on a simulated machine, from
// the start to the upgrader's exit.
#pragma once

#include <cstdint>
#include <string>

#include "tests/together/simulation/atlas.h"
#include "tests/together/simulation/guide.h"
#include "tests/together/simulation/judge.h"

namespace upgrader::simulation {

struct RunOutcome {
  std::string verdict;  // the rule that was broken, in words; empty if none was broken
  Tally tally;
};

struct Setting {
  // A function with an injected bug, which is called instead of Supervisor::step; if null, the real
  // function runs.
  const StepFunction* step = nullptr;
  const Atlas* atlas = nullptr;  // the maps; if null, no run is guided, and visits are not counted
  const Goals* goals = nullptr;
  Visits* visits = nullptr;
  std::string* trace = nullptr;
};

[[nodiscard]] RunOutcome run_seed(std::uint64_t seed, const Setting& setting = {});

}  // namespace upgrader::simulation
