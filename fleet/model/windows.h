// Maintenance windows: the times at which something may begin. No other decision in the fleet
// depends on a wall clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/time.h"

namespace fleet {

// The longest window: a week. A longer window would always be open if it begins each week.
inline constexpr std::int64_t window_seconds_max = 7 * 86'400;
// A window with this time zone opens by the time zone of each node itself.
inline constexpr std::string_view site_local = "site-local";

// Returns what is wrong with the window, or no value if it is valid.
[[nodiscard]] std::optional<std::string> why_no_window(const Window& window);

struct OpenWindow {
  UnixSeconds begins = 0;
  UnixSeconds ends = 0;

  bool operator==(const OpenWindow&) const = default;
};

// Returns the window that is open at the moment `now`, or else the next one. A window begins when
// local time reaches its start. If clocks are put forward and skip the start, the window begins at
// the moment at which it would have begun without that change. If clocks show the start twice, it
// begins at the first time. A change of clocks does not change the window's duration. Returns no
// value if the window is not valid.
[[nodiscard]] std::optional<OpenWindow> next_window(const Window& window, const TimeZone& zone,
                                                    UnixSeconds now);

// Returns whether an upgrade that takes `takes_seconds` may begin now: the window must be open, and
// stay open for that long.
[[nodiscard]] bool may_begin(const Window& window, const TimeZone& zone, UnixSeconds now,
                             std::int64_t takes_seconds);

// Returns a duration as a text such as `1d4h18s`, or `0s` if no time is left.
[[nodiscard]] std::string countdown(std::int64_t seconds);

}  // namespace fleet
