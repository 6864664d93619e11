// The shared parts of long test runs: random numbers, which are the same for the same seed;
// settings from environment variables, such as RUNS and SEED; and the result line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "tests/support/failed_checks.h"

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

// Returns the result line of a test: its figures, and whether it has met `bar`, the value that it
// had to reach. The script tests/run shows this line, and tests/judging/verify writes it into
// tests/VERIFICATION.md.
inline std::string result_line(const std::string& command, const std::string& figures,
                               const std::string& bar, bool met) {
  return "result: fleet | " + command + " | " + figures + " | " + bar + " | " +
         (met ? "met" : "not met: a check has failed");
}

// Prints the figures of a test and its result line. The test has met its bar if none of its checks
// has failed before this call.
inline void report(const std::string& command, const std::string& figures, const std::string& bar) {
  std::cout << "report: " << figures << "\n"
            << result_line(command, figures, bar, !test_support::has_failed_check) << "\n";
}

}  // namespace fleet_test
