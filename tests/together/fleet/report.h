// Prints the result of a long test run. The script tests/run shows this result, and
// tests/judging/verify writes it into tests/VERIFICATION.md.
#pragma once

#include <iostream>
#include <string>

namespace fleet_test {

// Prints the figures of a test, and a result line that ends with `met`. May only be called if all
// checks of the test have passed.
inline void report(const std::string& command, const std::string& figures, const std::string& bar) {
  std::cout << "report: " << figures << "\n"
            << "result: fleet | " << command << " | " << figures << " | " << bar << " | met\n";
}

}  // namespace fleet_test
