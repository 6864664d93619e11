// The time that state machines are given: milliseconds of a clock that only goes forward and begins
// anywhere. Nothing here reads a clock.
#pragma once

#include <cstdint>

namespace fleet {

using Ms = std::int64_t;

}  // namespace fleet
