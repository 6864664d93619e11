// Finds out how long an upgrader has run, by a clock that is never set.
#pragma once

#include <cstdint>
#include <optional>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns how long the upgrader `pid` has run. Returns nothing if /proc shows no upgrader with that
// pid: the pid may belong to another pid namespace, or to another process by now.
[[nodiscard]] std::optional<Duration> age_of_upgrader(std::int64_t pid);

// Returns a status to be shown to people. If its upgrader still runs, all times are converted to
// the present clock, because the clock may have been set since they were written.
[[nodiscard]] Status for_people(const Status& status, Hearing hearing, Moment now);

}  // namespace upgraderctl
