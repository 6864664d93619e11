// Corrects the times in an upgrader's status that were written before the machine's clock was set,
// for example on a machine without a battery. Otherwise an upgrader that has run for an hour might
// be shown as running for four hundred days.
#pragma once

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the status with its times converted to the machine's current clock. `age` is how long the
// upgrader has run, by a monotonic clock. A time in the status is wrong if it is earlier than the
// upgrader's start or in the future. Such a time is corrected by the amount by which the recorded
// start time is wrong.
[[nodiscard]] Status in_todays_clock(Status status, Moment now, Duration age);

}  // namespace upgraderctl
