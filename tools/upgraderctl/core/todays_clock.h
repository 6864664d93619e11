// The times of a status whose upgrader was started before the clock was set. They are of the clock
// as it was then: an upgrader that runs for an hour would be said to run for four hundred days.
#pragma once

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// The status as if the clock had always gone as it does now. `age` is how long its upgrader has
// run, by a clock that nobody sets. Times that this upgrader cannot have seen, since they lie
// before its start or in the future, are moved as its start is.
[[nodiscard]] Status in_todays_clock(Status status, Moment now, Duration age);

}  // namespace upgraderctl
