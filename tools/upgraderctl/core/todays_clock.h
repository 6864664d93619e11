// Corrects the times in an upgrader's status that were written before the machine's clock was set,
// for example on a machine without a battery. Otherwise an upgrader that has run for an hour might
// be shown as running for four hundred days.
#pragma once

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the status with its times converted to the machine's current clock. `age` is how long the
// upgrader has run, by a monotonic clock, so `now` - `age` is its true start. Moves the recorded
// start (status.upgrader.since) to the true start. A time is wrong if it is earlier than the true
// start or in the future. Moves every wrong time except status.deadline by the same amount. Moves
// status.deadline, which may be in the future even if it is right, by that amount only if
// status.since is wrong.
[[nodiscard]] Status in_todays_clock(Status status, Moment now, Duration age);

}  // namespace upgraderctl
