// The measurements of `make bench`. Each prints a table, and returns a sentence that sums it up.
#pragma once

#include <string>

#include "tests/benchmark/contender.h"

namespace benchmark {

// Measures the upgrader's share of a hand-over: the time from the end of one agent until the next
// agent begins to work, while the machine does nothing else.
[[nodiscard]] std::string measure_hand_over(const Place& place);

// Measures how long it takes from the start of a program to the start of its agent, and to the
// beginning of the agent's work.
[[nodiscard]] std::string measure_start_up(const Place& place);

// Measures how long no agent works during a replacement, for several start times of the new
// version.
[[nodiscard]] std::string measure_replacement(const Place& place);

// Measures how long no agent works if a version fails on its trial.
[[nodiscard]] std::string measure_fall_back(const Place& place);

// Measures the memory of an upgrader with one agent at rest.
[[nodiscard]] std::string measure_memory(const Place& place);

}  // namespace benchmark
