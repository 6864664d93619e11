// The figures of a simulation, for people and for `make verify`.
#pragma once

#include <cstdint>
#include <string>

#include "tests/decisions/explore/figures.h"
#include "tests/together/simulation/atlas.h"

namespace upgrader::simulation {

// The tree's commit, as git tells it.
[[nodiscard]] std::string commit();

// Prints them and the result line. True if the bar is met.
bool print_figures(std::uint64_t seeds, const Tally& tally, const Visits& visits, bool failed);

}  // namespace upgrader::simulation
