// Times and durations: as status.json and the command line spell them, and as people read them.
// Knows no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/duration.h"

namespace upgraderctl {

// A time of day and date, in UTC.
using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

// A length of time; also how far a monotonic clock has come.
using upgrader::Duration;

// RFC 3339: 2026-11-22T08:15:04.123Z, with any number of digits behind the point and any offset.
[[nodiscard]] std::optional<Moment> parse_moment(std::string_view text);

// 2026-11-22 08:15:04 UTC
[[nodiscard]] std::string show_moment(Moment moment);

// 2026-11-22T08:15:04Z, of seconds since 1970. Times before 1970 and beyond the year 9999 are shown
// as the nearest of these.
[[nodiscard]] std::string rfc3339(std::int64_t seconds);

using upgrader::parse_duration;  // on the command line

// The two largest units, of which the second is left out where it is 0: 12 ms, 4.2 s, 3 min 4 s,
// 2 h 13 min, 5 d 1 h. A negative duration counts as 0.
[[nodiscard]] std::string show_duration(Duration duration);

// Microseconds likewise: 24 us, 3.1 ms, and from a second on as a duration.
[[nodiscard]] std::string show_microseconds(std::int64_t microseconds);

}  // namespace upgraderctl
