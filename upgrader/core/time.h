// Time as the upgrader counts it: milliseconds, handed in as an argument. Who reads the clock is
// the loop alone.
#pragma once

#include <chrono>

namespace upgrader {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::milliseconds;  // since an origin that only the loop knows

}  // namespace upgrader
