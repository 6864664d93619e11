// Writes a walk of the exploration as a scenario (tests/decisions/scenario): with the generations
// and times of a real run, and with the answers of the supervisor that was explored.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/explorer.h"

namespace upgrader::test {

struct Story {
  std::string text;                     // a scenario, which play() can read
  std::vector<std::string> violations;  // what a watcher found when the scenario was played
};

// Returns the story of `moves`, from the start on, under one of the explored policies. At a move
// that a scenario cannot show, the story ends early, and its last line says that it is not
// complete. There are two such moves: a deadline that passes before an earlier one, and an agent
// that does not read.
[[nodiscard]] Story tell(const Policy& policy, const std::vector<Move>& moves,
                         const StepFunction& step);

}  // namespace upgrader::test
