// Measures hand-overs of the upgrader and of the minimal program, minimal.c, in turn. Under both
// programs, the next agent begins to work only after the old agent's exit.
#pragma once

#include <vector>

#include "tests/benchmark/contender.h"
#include "tests/benchmark/stamp_file.h"

namespace benchmark {

struct HandOvers {
  std::vector<Milliseconds> upgrader = {};
  std::vector<Milliseconds> minimal = {};
  // For each pair of runs: the median under the upgrader, divided by the median under the minimal
  // program.
  std::vector<double> ratios = {};
};

// Measures the upgrader's own share of a hand-over: the time from the old agent's exit until the
// next agent has read `activate`. Each hand-over begins as soon as the previous one has ended.
[[nodiscard]] HandOvers shares_in_pairs(const Place& place, int pairs);

// Settings for measuring gaps in the work. Agents note the time again and again while they work. A
// gap is the time from the old agent's last note to the next agent's first. The settings are the
// time that each agent takes to start, and the number of hand-overs in a run.
struct Gap {
  int start_ms = 0;
  int handovers = 0;
  // True if the upgrader has the options of a service file, and writes status.json.
  bool as_service = false;
};
[[nodiscard]] HandOvers gaps_in_pairs(const Place& place, const Gap& gap, int pairs);

}  // namespace benchmark
