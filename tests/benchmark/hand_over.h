// Hand-overs of the upgrader and of the minimal program, which waits for the old agent's exit as
// the upgrader does, in turn.
#pragma once

#include <vector>

#include "tests/benchmark/contender.h"
#include "tests/benchmark/stamp_file.h"

namespace benchmark {

struct HandOvers {
  std::vector<Milliseconds> upgrader = {};
  std::vector<Milliseconds> minimal = {};
  // The upgrader's median by the minimal program's, of each pair of runs.
  std::vector<double> ratios = {};
};

// The upgrader's own share of it: from the exit of the old agent until the next one has read
// `activate`; one right after the other.
[[nodiscard]] HandOvers shares_in_pairs(const Place& place, int pairs);

// All that is noticed of it: from the old agent's last tick to the next one's first. So often in a
// run, and by how long an agent takes to start.
struct Gap {
  int start_ms = 0;
  int handovers = 0;
  // The upgrader has the options of a service file, and writes status.json.
  bool as_service = false;
};
[[nodiscard]] HandOvers gaps_in_pairs(const Place& place, const Gap& gap, int pairs);

}  // namespace benchmark
