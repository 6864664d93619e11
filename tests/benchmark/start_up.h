// Starts of one agent, in turn, under several programs.
#pragma once

#include <vector>

#include "tests/benchmark/contender.h"
#include "tests/benchmark/stamp_file.h"

namespace benchmark {

// From the fork until the agent's main, and until it may work.
struct StartUps {
  Contender contender;
  std::vector<Milliseconds> to_start = {};
  std::vector<Milliseconds> to_work = {};
};

// One start each in every round.
[[nodiscard]] std::vector<StartUps> start_in_turn(const Place& place,
                                                  const std::vector<Contender>& contenders,
                                                  int rounds);

}  // namespace benchmark
