// How a duration is written on a command line. The programs below node/ take the same form.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace upgrader {

inline constexpr Duration duration_max = std::chrono::hours{24};

inline constexpr std::string_view duration_form =
    "where D is a whole number and ms, s, m or h, at most 24h; or 0";

[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

}  // namespace upgrader
