// Corrects the times in the status of an upgrader that was started before the machine's clock was
// set. Otherwise an upgrader that has run for an hour might be shown as running for four hundred
// days.
#pragma once

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Returns the status with its times converted to the present clock. `age` is how long the upgrader
// has run, by a clock that is never set. A time before the upgrader's start or in the future is
// wrong. It is moved by the difference by which the recorded time of the start is wrong.
[[nodiscard]] Status in_todays_clock(Status status, Moment now, Duration age);

}  // namespace upgraderctl
