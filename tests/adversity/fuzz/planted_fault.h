// Faults that are planted in the harness on request, to prove that a run would find them: the
// environment names one in PLANTED_FAULT. Only the harness asks here, never the program.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz {

inline std::string name_of_planted_fault() {
  const char* const name = std::getenv("PLANTED_FAULT");
  return name == nullptr ? "" : name;
}

// The name of the fault; empty if none is planted.
inline std::string planted_fault = name_of_planted_fault();

inline bool planted(std::string_view fault) {
  return fault == planted_fault;
}

}  // namespace fuzz
