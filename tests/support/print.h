// Prints a supervisor's complete state as text, so that people can read states, and tests can
// compare and count them.
#pragma once

#include <string>

#include "upgrader/core/supervisor.h"

namespace upgrader::test {

// Returns the supervisor's state as text. Two supervisors have equal texts if and only if the
// supervisors are equal.
[[nodiscard]] std::string print(const Supervisor& supervisor);

}  // namespace upgrader::test
