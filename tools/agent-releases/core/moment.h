// A point in time, to the second. Manifests and the ledger contain it as text in the form of RFC
// 3339.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/moment.h"

namespace agent_releases {

// A point in time, in seconds since 1970-01-01T00:00:00Z.
using Moment = std::int64_t;

// Parses a time of RFC 3339, and drops a fraction of a second.
[[nodiscard]] inline std::optional<Moment> parse_moment(std::string_view text) {
  const auto moment = upgraderctl::parse_moment(text);
  if (!moment) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*moment).time_since_epoch().count();
}

[[nodiscard]] inline std::string to_text(Moment moment) {
  return upgraderctl::rfc3339(moment);
}

}  // namespace agent_releases
