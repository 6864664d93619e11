// The measurements. Each prints a table, and returns the sentence that sums it up.
#pragma once

#include <string>

#include "tests/benchmark/contender.h"

namespace benchmark {

// From the end of one agent to the beginning of the next one's work, with nothing else between
// hand-overs: the upgrader's share.
[[nodiscard]] std::string measure_hand_over(const Place& place);

// From the start of a program to the beginning of its agent, and of the agent's work.
[[nodiscard]] std::string measure_start_up(const Place& place);

// How long nobody works, by how long the new version takes to start.
[[nodiscard]] std::string measure_replacement(const Place& place);

// How long nobody works when a version that was activated fails on its trial.
[[nodiscard]] std::string measure_fall_back(const Place& place);

// The memory that an upgrader takes with one agent at rest.
[[nodiscard]] std::string measure_memory(const Place& place);

}  // namespace benchmark
