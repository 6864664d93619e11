// Measures starts of one agent under several programs in turn.
#pragma once

#include <vector>

#include "tests/benchmark/contender.h"
#include "tests/benchmark/stamp_file.h"

namespace benchmark {

// Two times: from the fork to the agent's main(), and from the fork until the agent may work.
struct StartUps {
  Contender contender;
  std::vector<Milliseconds> to_start = {};
  std::vector<Milliseconds> to_work = {};
};

// Starts the agent once under each of the compared programs in every round.
[[nodiscard]] std::vector<StartUps> start_in_turn(const Place& place,
                                                  const std::vector<Contender>& contenders,
                                                  int rounds);

}  // namespace benchmark
