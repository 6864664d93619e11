// Measures the memory of a program with one agent at rest, as the kernel counts it.
#pragma once

#include "tests/benchmark/contender.h"

namespace benchmark {

struct Memory {
  double pss_kb = 0;
  double private_kb = 0;
};

[[nodiscard]] Memory memory_with_one_agent(const Place& place, const Contender& contender);

// Measures the upgrader's memory while a candidate starts slowly beside the active agent.
[[nodiscard]] Memory memory_with_two_agents(const Place& place);

}  // namespace benchmark
