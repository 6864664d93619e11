// Writes a sequence of moves of the exploration as a scenario (tests/decisions/scenario), with the
// generations and times of a real run. The scenario shows the answers of the supervisor that was
// explored.
#pragma once

#include <string>
#include <vector>

#include "tests/decisions/explore/explorer.h"

namespace upgrader::test {

struct Story {
  std::string text;  // the scenario, which play() can read
  // The violations that a watcher finds while the scenario is played.
  std::vector<std::string> violations;
};

// Writes `moves`, a course of events from the supervisor's start, as a scenario under one of the
// explored policies. If a scenario cannot express a move, the text ends before that move, and its
// last line says that it is not complete. There are two such moves: a deadline that passes before
// an earlier one, and an agent that does not read.
[[nodiscard]] Story tell(const Policy& policy, const std::vector<Move>& moves,
                         const StepFunction& step);

}  // namespace upgrader::test
