// A walk of the exploration as a scenario (tests/decisions/scenario): with the generations and the
// instants that a real run would have, and the answers of the supervisor that was explored.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/explorer.h"

namespace upgrader::test {

struct Story {
  std::string text;                     // play() understands it
  std::vector<std::string> violations;  // what a watcher saw when it was played again
};

// The moves from the start on, under one of the explored policies. A deadline that lies behind
// another one cannot pass first in a real run, and scenarios have no word for an agent that is
// deaf: then the story ends there, and says so.
[[nodiscard]] Story tell(const Policy& policy, const std::vector<Move>& moves,
                         const StepFunction& step);

}  // namespace upgrader::test
