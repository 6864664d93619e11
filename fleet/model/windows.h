// Maintenance windows: when something may begin. A wall clock decides here and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/time_zone.h"

namespace fleet {

// A longer one would be open always, where it begins every day of the week.
inline constexpr std::int64_t window_seconds_max = 7 * 86'400;
// The time zone that stands for each node's own.
inline constexpr std::string_view site_local = "site-local";

// No value if the window can be kept; otherwise its error in words.
[[nodiscard]] std::optional<std::string> why_no_window(const Window& window);

struct OpenWindow {
  UnixSeconds begins = 0;
  UnixSeconds ends = 0;

  bool operator==(const OpenWindow&) const = default;
};

// The window as it is open at that moment, or as it opens next. It begins at its local time,
// however clocks are changed: where they skip that, when it would have been; where they show it
// twice, at the first; and it lasts as long as it says by any clock. No value if it cannot be kept.
[[nodiscard]] std::optional<OpenWindow> next_window(const Window& window, const TimeZone& zone,
                                                    UnixSeconds now);

// Whether what takes so long may begin now: it is open, and that ends before it does.
[[nodiscard]] bool may_begin(const Window& window, const TimeZone& zone, UnixSeconds now,
                             std::int64_t takes_seconds);

// `1d4h18s`; `0s` where there is nothing to wait for.
[[nodiscard]] std::string countdown(std::int64_t seconds);

}  // namespace fleet
