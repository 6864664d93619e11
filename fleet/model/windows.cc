#include "fleet/model/windows.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace fleet {
namespace {

constexpr std::array<std::string_view, 7> day_names = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

// Returns a start such as `22:30` in seconds after midnight, or no value if it is not valid.
std::optional<std::int64_t> start_of(const std::string& text) {
  const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return hours * std::int64_t{3'600} + minutes * std::int64_t{60};
}

bool is_of_day(const Window& window, std::int64_t day) {
  if (window.days.empty()) return true;
  const std::chrono::weekday on{std::chrono::sys_days(std::chrono::days(day))};
  const std::string_view name = day_names[on.c_encoding()];
  return std::find(window.days.begin(), window.days.end(), name) != window.days.end();
}

std::int64_t day_of(std::int64_t local) {
  return local >= 0 ? local / day_seconds : (local - day_seconds + 1) / day_seconds;
}

}  // namespace

std::optional<std::string> why_no_window(const Window& window) {
  if (!start_of(window.start)) return "start \"" + window.start + "\" is no HH:MM";
  if (window.duration_s < 60 || window.duration_s > window_seconds_max) {
    return "a duration is a minute to seven days";
  }
  for (const std::string& day : window.days) {
    if (std::find(day_names.begin(), day_names.end(), day) == day_names.end()) {
      return "\"" + day + "\" is no day (mon, tue, wed, thu, fri, sat, sun)";
    }
  }
  return std::nullopt;
}

std::optional<OpenWindow> next_window(const Window& window, const TimeZone& zone, UnixSeconds now) {
  if (why_no_window(window)) return std::nullopt;
  const std::int64_t start = *start_of(window.start);
  const std::int64_t today = day_of(now + zone.offset_at(now));
  // Try each day, from the earliest day whose window may still be open, to a week ahead: by then,
  // each day of the week has come once.
  const std::int64_t earliest = today - window.duration_s / day_seconds - 2;
  std::optional<OpenWindow> next;
  for (std::int64_t day = earliest; day <= today + 8; ++day) {
    if (!is_of_day(window, day)) continue;
    const UnixSeconds begins = zone.moment_of(day * day_seconds + start);
    const UnixSeconds ends = begins + window.duration_s;
    if (next && begins > next->ends) break;
    // If the next window opens before this one ends, the two count as one window.
    if (next) {
      next->ends = std::max(next->ends, ends);
    } else if (ends > now) {
      next = OpenWindow{begins, ends};
    }
  }
  return next;
}

bool may_begin(const Window& window, const TimeZone& zone, UnixSeconds now,
               std::int64_t takes_seconds) {
  const std::optional<OpenWindow> open = next_window(window, zone, now);
  return open && open->begins <= now && now + takes_seconds <= open->ends;
}

std::string countdown(std::int64_t seconds) {
  if (seconds <= 0) return "0s";
  std::string text;
  auto part = [&text, left = seconds](std::int64_t unit, char letter) mutable {
    if (left / unit > 0) text += std::to_string(left / unit) + letter;
    left %= unit;
  };
  part(day_seconds, 'd');
  part(3'600, 'h');
  part(60, 'm');
  part(1, 's');
  return text;
}

}  // namespace fleet
