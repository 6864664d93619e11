// Writes a walk of the exploration as a scenario (tests/decisions/scenario): with the generations
// and instants of a real run, and the answers of the supervisor that was explored.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/explorer.h"

namespace upgrader::test {

struct Story {
  std::string text;                     // a scenario, which play() can read
  std::vector<std::string> violations;  // what a watcher found when the scenario was played
};

// Returns the story of `moves`, from the start on, under one of the explored policies. The story
// ends early, and says so, at a move that it cannot show: a deadline that lies behind another one,
// and so cannot pass first in a real run; or an agent that does not read, which no line of a
// scenario can express.
[[nodiscard]] Story tell(const Policy& policy, const std::vector<Move>& moves,
                         const StepFunction& step);

}  // namespace upgrader::test
