// Prints the figures of a simulation, for people and for `make verify`.
#pragma once

#include <cstdint>
#include <string>

#include "tests/decisions/explore/figures.h"
#include "tests/together/simulation/atlas.h"

namespace upgrader::simulation {

// Returns the commit of the sources, from git.
[[nodiscard]] std::string commit();

// Prints the figures and the result line. Returns true if runs have made enough of the map's moves.
bool print_figures(std::uint64_t seeds, const Tally& tally, const Visits& visits, bool failed);

}  // namespace upgrader::simulation
