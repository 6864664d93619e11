// What a long run has to say: for tests/run, which shows it, and for tests/judging/verify, which
// writes it into tests/VERIFICATION.md.
#pragma once

#include <iostream>
#include <string>

namespace fleet_test {

// Called where all that was required has held.
inline void report(const std::string& command, const std::string& figures, const std::string& bar) {
  std::cout << "report: " << figures << "\n"
            << "result: fleet | " << command << " | " << figures << " | " << bar << " | met\n";
}

}  // namespace fleet_test
