// This file counts how many keys and records the calling thread has parsed so far, and how many
// nodes the driver of the desired versions has examined. Tests use these counts to show that the
// work for one event does not grow with the number of nodes or of past rollouts.
#pragma once

#include <cstdint>

namespace fleet {

struct Effort {
  std::uint64_t keys = 0;
  std::uint64_t records = 0;
  std::uint64_t nodes = 0;
};

inline thread_local Effort effort;

}  // namespace fleet
