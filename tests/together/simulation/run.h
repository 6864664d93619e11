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
  const StepFunction* step = nullptr;  // the step of a faulty supervisor; null: the real one
  const Atlas* atlas = nullptr;        // the maps; if null, no run is guided or counted on them
  const Goals* goals = nullptr;
  Visits* visits = nullptr;
  std::string* trace = nullptr;
};

[[nodiscard]] RunOutcome run_seed(std::uint64_t seed, const Setting& setting = {});

}  // namespace upgrader::simulation
