// Functions that parse and print times and durations: in the forms of status.json and the command
// line, and in words for people. No function here reads a clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/duration.h"

namespace upgraderctl {

// A date and a time of day, in UTC.
using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

// A length of time; also a reading of a monotonic clock.
using upgrader::Duration;

// Parses RFC 3339: 2026-11-22T08:15:04.123Z, with any number of digits after the point and any
// offset.
[[nodiscard]] std::optional<Moment> parse_moment(std::string_view text);

// Returns the date and the time of day as a text for people, such as 2026-11-22 08:15:04 UTC.
[[nodiscard]] std::string show_moment(Moment moment);

// Returns a text such as 2026-11-22T08:15:04Z for a number of seconds since 1970. A time before
// 1970 is shown as the beginning of 1970, and a time after the year 9999 as the last second of
// 9999.
[[nodiscard]] std::string rfc3339(std::int64_t seconds);

using upgrader::parse_duration;  // parses durations of the command line

// Returns a duration as a text for people: 12 ms, 4.2 s, 3 min 4 s, 2 h 13 min, 5 d 1 h. From a
// minute on, the text has two units, and the smaller one is left out if it is 0. A negative
// duration is shown as 0.
[[nodiscard]] std::string show_duration(Duration duration);

// Returns a duration in microseconds as text, such as 24 us or 3.1 ms. Durations of a second and
// more have the form of show_duration().
[[nodiscard]] std::string show_microseconds(std::int64_t microseconds);

}  // namespace upgraderctl
