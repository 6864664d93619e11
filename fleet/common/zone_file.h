// Reads this machine's time zones: tzdata's files, and which of them is the machine's own.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"

namespace fleet {

// Returns a Refusal if tzdata has no such zone, or its file cannot be read.
[[nodiscard]] Result<TimeZone> zone_of(const std::string& name);

// Returns a name such as `Europe/Berlin`, or an empty text if it cannot be known.
[[nodiscard]] std::string zone_of_this_machine();

}  // namespace fleet
