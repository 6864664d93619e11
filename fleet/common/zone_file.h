// Reads time zones from this machine's tzdata, and finds out the machine's own time zone.
#pragma once

#include <string>

#include "fleet/model/records/time.h"

namespace fleet {

// Returns the time zone with this name. Returns a Refusal if tzdata has no such zone or its file
// cannot be read.
[[nodiscard]] Result<TimeZone> zone_of(const std::string& name);

// Returns the name of the machine's own time zone, such as `Europe/Berlin`, or an empty string if
// it is unknown.
[[nodiscard]] std::string zone_of_this_machine();

}  // namespace fleet
