// How long an upgrader has run, by a clock that nobody sets.
#pragma once

#include <cstdint>
#include <optional>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// Nothing where /proc does not tell, or the process is called otherwise than an upgrader is: the
// pid may be of another pid namespace, or have been used again.
[[nodiscard]] std::optional<Duration> age_of_upgrader(std::int64_t pid);

// A status for people, with all times by today's clock, if its upgrader still runs.
[[nodiscard]] Status for_people(const Status& status, Hearing hearing, Moment now);

}  // namespace upgraderctl
