// Parses durations of command lines, settings and documents.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace upgrader {

inline constexpr Duration duration_max = std::chrono::hours{24};

inline constexpr std::string_view duration_form =
    "where D is a whole number and ms, s, m or h, at most 24h; or 0";

// Parses "0", or a whole number of at most nine digits with one of the units ms, s, m, h, d.
[[nodiscard]] std::optional<Duration> parse_length(std::string_view text);

// Parses a duration like parse_length(), but of at most a day, and without the unit d.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

}  // namespace upgrader
