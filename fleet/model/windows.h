// Maintenance windows: when something may begin. Nothing else in the fleet's decisions depends on a
// wall clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/time_zone.h"

namespace fleet {

// The longest window: a longer one that begins every day of the week would always be open.
inline constexpr std::int64_t window_seconds_max = 7 * 86'400;
// The name that stands for each node's own time zone.
inline constexpr std::string_view site_local = "site-local";

// Returns what is wrong with the window, or no value if it can be kept.
[[nodiscard]] std::optional<std::string> why_no_window(const Window& window);

struct OpenWindow {
  UnixSeconds begins = 0;
  UnixSeconds ends = 0;

  bool operator==(const OpenWindow&) const = default;
};

// Returns the window that is open at that moment, or else the next one. A window begins at its
// local time, however clocks are changed: if they skip that time, at the moment when it would have
// been; if they show it twice, at the first moment. It lasts as long as it says, by any clock.
// Returns no value if the window cannot be kept.
[[nodiscard]] std::optional<OpenWindow> next_window(const Window& window, const TimeZone& zone,
                                                    UnixSeconds now);

// Returns whether something that takes a given time may begin now: the window must be open, and
// stay open for that time.
[[nodiscard]] bool may_begin(const Window& window, const TimeZone& zone, UnixSeconds now,
                             std::int64_t takes_seconds);

// Returns `1d4h18s`, or `0s` if the time is over.
[[nodiscard]] std::string countdown(std::int64_t seconds);

}  // namespace fleet
