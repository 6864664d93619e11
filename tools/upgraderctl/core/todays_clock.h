// Corrects the times in an upgrader's status that were written before the machine's clock was set,
// for example on a machine without a battery. Otherwise an upgrader that has run for an hour might
// be shown as running for four hundred days.
#pragma once

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the status with its times converted to the machine's current clock. `age` is how long the
// upgrader has run, by a monotonic clock, so its true start is `now` - `age`.
//
// If the recorded start (status.upgrader.since) is wrong by two seconds or more, adds the
// difference to it and to every other wrong time that pages show. A time is wrong if it is earlier
// than the true start or in the future. status.deadline may rightly be in the future, so it is
// corrected only together with status.since.
[[nodiscard]] Status in_todays_clock(Status status, Moment now, Duration age);

}  // namespace upgraderctl
