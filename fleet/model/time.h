// Time as the state machines are given it: milliseconds of a clock that only goes forward, whose
// zero means nothing. Nothing here reads one.
#pragma once

#include <cstdint>

namespace fleet {

using Ms = std::int64_t;

}  // namespace fleet
