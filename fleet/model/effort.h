// This file counts the keys and records that this thread has parsed so far, and the nodes that the
// driver of the desired versions has looked at. Tests use this to show that the work for one event
// does not grow with the number of nodes or of past rollouts.
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
