// How a duration is written on a command line, in a setting, in a document.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace upgrader {

inline constexpr Duration duration_max = std::chrono::hours{24};

inline constexpr std::string_view duration_form =
    "where D is a whole number and ms, s, m or h, at most 24h; or 0";

// The one grammar of durations: a whole number of at most nine digits and ms, s, m, h or d; or 0.
[[nodiscard]] std::optional<Duration> parse_length(std::string_view text);

// The same where a day is the most, which needs no unit for days: it is refused.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

}  // namespace upgrader
