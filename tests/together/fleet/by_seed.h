// Lives that a seed repeats: chance, and what the environment says of how many of them there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace fleet_test {

using Random = std::mt19937_64;

// From 0 to `limit` - 1.
inline std::uint64_t below(Random& random, std::uint64_t limit) {
  return random() % limit;
}

// The number in the environment under this name, such as RUNS.
inline std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace fleet_test
