// A point in time as text (RFC 3339), to the second: what manifests and the ledger hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agent_releases {

// Seconds since 1970-01-01T00:00:00Z.
using Moment = std::int64_t;

// "2026-11-22T08:00:00Z", with a fraction, which is dropped, or with an offset such as +01:00.
[[nodiscard]] std::optional<Moment> parse_moment(std::string_view text);

// In UTC. Of the years 1970 to 9999; others are shown as the nearest of these.
[[nodiscard]] std::string to_text(Moment moment);

}  // namespace agent_releases
