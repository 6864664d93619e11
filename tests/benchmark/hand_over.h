// Hand-overs, one right after the other, of the upgrader and of the minimal program in turn.
#pragma once

#include <vector>

#include "tests/benchmark/contender.h"
#include "tests/benchmark/stamp_file.h"

namespace benchmark {

struct HandOvers {
  // From the exit of the old agent until the next one has read `activate`.
  std::vector<Milliseconds> upgrader = {};
  std::vector<Milliseconds> minimal = {};
  // The upgrader's median by the minimal program's, of each pair of runs.
  std::vector<double> ratios = {};
};

[[nodiscard]] HandOvers hand_over_in_pairs(const Place& place, int pairs);

}  // namespace benchmark
