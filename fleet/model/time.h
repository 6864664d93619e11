// The time that state machines get as an argument: milliseconds of a clock that only goes forward
// and begins anywhere. Nothing here reads a clock.
#pragma once

#include <cstdint>

namespace fleet {

using Ms = std::int64_t;

}  // namespace fleet
