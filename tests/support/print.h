// A supervisor's whole state as text, so that states can be read, compared and counted.
#pragma once

#include <string>

#include "upgrader/core/supervisor.h"

namespace upgrader::test {

// Equal for equal supervisors, different for different ones.
[[nodiscard]] std::string print(const Supervisor& supervisor);

}  // namespace upgrader::test
