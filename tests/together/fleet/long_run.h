// The shared parts of long test runs: random numbers, which are the same for the same seed;
// settings from environment variables, such as RUNS and SEED; and the result line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

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

// Reports a test that has passed: all its checks must have passed before this call. Prints the
// figures of the test, and a result line. This line says that the test has met `bar`, the value
// that it had to reach. The script tests/run shows this result, and tests/judging/verify writes it
// into tests/VERIFICATION.md.
inline void report(const std::string& command, const std::string& figures, const std::string& bar) {
  std::cout << "report: " << figures << "\n"
            << "result: fleet | " << command << " | " << figures << " | " << bar << " | met\n";
}

}  // namespace fleet_test
