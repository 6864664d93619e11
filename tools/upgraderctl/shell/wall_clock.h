// The time of day by the system's clock.
#pragma once

#include <chrono>

#include "base/moment.h"

namespace upgraderctl {

inline Moment wall_clock() {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

}  // namespace upgraderctl
