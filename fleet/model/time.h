// The type of the time that state machines get as an argument: milliseconds of a clock that never
// goes back and whose zero means nothing. No code in fleet/model reads a clock.
#pragma once

#include <cstdint>

namespace fleet {

using Ms = std::int64_t;

}  // namespace fleet
