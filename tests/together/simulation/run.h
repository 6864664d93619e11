// Runs one seed: the real loop on a simulated machine, from the start to the upgrader's exit.
#pragma once

#include <cstdint>
#include <string>

#include "tests/together/simulation/atlas.h"
#include "tests/together/simulation/guide.h"
#include "tests/together/simulation/judge.h"

namespace upgrader::simulation {

struct RunOutcome {
  std::string verdict;  // the rule that was broken, or ""
  Tally tally;
};

struct Setting {
  const StepFunction* step = nullptr;  // null for the supervisor's own step
  const Atlas* atlas = nullptr;        // if null, no run is guided and no visits are counted
  const Goals* goals = nullptr;
  Visits* visits = nullptr;
  std::string* trace = nullptr;
};

[[nodiscard]] RunOutcome run_seed(std::uint64_t seed, const Setting& setting = {});

}  // namespace upgrader::simulation
