// Prints a supervisor's whole state as text, so that states can be read, compared and counted.
#pragma once

#include <string>

#include "upgrader/core/supervisor.h"

namespace upgrader::test {

// Prints the state. Equal supervisors give equal texts, and different supervisors give different
// ones.
[[nodiscard]] std::string print(const Supervisor& supervisor);

}  // namespace upgrader::test
