// Times as agentify counts them: milliseconds, handed in as an argument; and how a duration is
// written on a command line. Who reads the clock is the loop alone.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace agentify {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::milliseconds;  // since an origin that only the loop knows

// The upgrader's own limit.
inline constexpr Duration duration_max = std::chrono::hours{24};

inline constexpr std::string_view duration_form =
    "where D is a whole number and ms, s, m or h, at most 24h; or 0";

[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

}  // namespace agentify
