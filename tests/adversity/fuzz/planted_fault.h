// Plants errors in the tests' own code on request, to prove that a run would find them: the
// variable PLANTED_FAULT names an error. The tested code never has these errors.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz {

inline std::string name_of_planted_fault() {
  const char* const name = std::getenv("PLANTED_FAULT");
  return name == nullptr ? "" : name;
}

// The name of the planted fault; "" if there is none.
inline std::string planted_fault = name_of_planted_fault();

inline bool planted(std::string_view fault) {
  return fault == planted_fault;
}

}  // namespace fuzz
