// Corrects the times in an upgrader's status that were written before the machine's clock was set,
// for example on a machine without a battery. Otherwise an upgrader that has run for an hour might
// be shown as running for four hundred days.
#pragma once

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the status with its times converted to the machine's current clock. `age` is how long the
// upgrader has run, by a monotonic clock, so its true start is `now` - `age`. If the true start and
// the recorded start (status.upgrader.since) differ by less than two seconds, returns the status
// unchanged. Otherwise adds the difference to the recorded start and to every wrong time that pages
// show. A time is wrong if it is earlier than the true start or in the future. A deadline may be in
// the future even if it is right, so status.deadline counts as wrong only if status.since is wrong.
[[nodiscard]] Status in_todays_clock(Status status, Moment now, Duration age);

}  // namespace upgraderctl
