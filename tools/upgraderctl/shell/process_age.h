// Finds out how long an upgrader has run, by a clock that nobody sets.
#pragma once

#include <cstdint>
#include <optional>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns how long the upgrader `pid` has run. Returns nothing if /proc does not show the process,
// or shows another name than an upgrader's: the pid may be of another pid namespace, or have been
// used again.
[[nodiscard]] std::optional<Duration> age_of_upgrader(std::int64_t pid);

// Returns a status for people: if its upgrader still runs, all times are converted to the present
// clock.
[[nodiscard]] Status for_people(const Status& status, Hearing hearing, Moment now);

}  // namespace upgraderctl
