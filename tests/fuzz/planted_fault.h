// Faults that are planted in the harness on request, to prove that a run of the fuzzer finds them:
// the environment names one in PLANTED_FAULT. Only the harness asks here, never the program.
#pragma once

#include <cstdlib>
#include <string_view>

namespace fuzz {

inline bool planted(std::string_view fault) {
  static const char* const name = std::getenv("PLANTED_FAULT");
  return name != nullptr && fault == name;
}

}  // namespace fuzz
