// Random numbers that are the same for the same seed, and numbers that are read from environment
// variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace fleet_test {

using Random = std::mt19937_64;

// Returns a number from 0 to `limit` - 1.
inline std::uint64_t below(Random& random, std::uint64_t limit) {
  return random() % limit;
}

// Returns the number in the environment variable `name`, such as RUNS, or `otherwise` if the
// variable is not set.
inline std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace fleet_test
