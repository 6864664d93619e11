// The type of the time that state machines get as an argument: milliseconds on a clock that never
// goes back. Only differences between times have a meaning. No code in fleet/model reads a clock.
#pragma once

#include <cstdint>

namespace fleet {

using Ms = std::int64_t;

}  // namespace fleet
