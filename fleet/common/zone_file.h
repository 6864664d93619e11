// Time zones as this machine has them: tzdata's files, and which of them is its own.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"

namespace fleet {

// Refused where tzdata has no such zone, or cannot be read.
[[nodiscard]] Result<TimeZone> zone_of(const std::string& name);

// `Europe/Berlin`; empty: it cannot be known.
[[nodiscard]] std::string zone_of_this_machine();

}  // namespace fleet
