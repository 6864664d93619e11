// A point in time to the second: what manifests and the ledger hold, as RFC 3339 writes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/moment.h"

namespace agent_releases {

// Seconds since 1970-01-01T00:00:00Z.
using Moment = std::int64_t;

// A fraction of a second is dropped.
[[nodiscard]] inline std::optional<Moment> parse_moment(std::string_view text) {
  const auto moment = upgraderctl::parse_moment(text);
  if (!moment) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*moment).time_since_epoch().count();
}

[[nodiscard]] inline std::string to_text(Moment moment) {
  return upgraderctl::rfc3339(moment);
}

}  // namespace agent_releases
