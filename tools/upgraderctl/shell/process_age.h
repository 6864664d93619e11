// Finds out how long an upgrader has run, by a clock that is never set.
#pragma once

#include <cstdint>
#include <optional>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns how long the upgrader `pid` has run. Returns nothing if /proc does not show an upgrader
// by that pid: the pid may be from another pid namespace, or may have been used again.
[[nodiscard]] std::optional<Duration> age_of_upgrader(std::int64_t pid);

// Returns a status for people. If its upgrader still runs, all times in it are converted to the
// present clock, which may have been set since they were written.
[[nodiscard]] Status for_people(const Status& status, Hearing hearing, Moment now);

}  // namespace upgraderctl
