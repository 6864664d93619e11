#include "base/moment.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace upgraderctl {
namespace {

// Removes exactly `count` digits from the front of `text`, and returns their value.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// Removes a decimal point and the digits after it from the front of `text`. Returns this fraction
// of a second in milliseconds, rounded down; 0 if `text` does not begin with a point. Returns
// nothing if no digit follows the point.
std::optional<Duration> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return Duration{0};
  std::int64_t milliseconds = 0;
  std::int64_t weight = 100;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    milliseconds += weight * (text[digits] - '0');
    weight /= 10;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return Duration{milliseconds};
}

// Reads the offset from UTC at the end of `text`. Returns the duration that must be subtracted from
// the local time to get UTC.
std::optional<Duration> take_offset(std::string_view text) {
  if (text == "Z" || text == "z") return Duration{0};
  const bool east = take(text, '+');
  if (!east && !take(text, '-')) return std::nullopt;
  const std::optional<int> hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const std::optional<int> minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59 || !text.empty()) return std::nullopt;
  const Duration offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return east ? offset : -offset;
}

std::string with_zeros(std::int64_t number, std::size_t digits_min) {
  const std::string digits = std::to_string(number);
  return std::string(digits_min - std::min(digits_min, digits.size()), '0') + digits;
}

// Returns the date and time as YYYY-MM-DD, then `between`, then HH:MM:SS.
std::string date_and_time(std::chrono::sys_seconds moment, char between) {
  using namespace std::chrono;
  const sys_days date = floor<days>(moment);
  const year_month_day parts{date};
  const hh_mm_ss clock{moment - date};
  return with_zeros(static_cast<int>(parts.year()), 4) + "-" +
         with_zeros(static_cast<unsigned>(parts.month()), 2) + "-" +
         with_zeros(static_cast<unsigned>(parts.day()), 2) + between +
         with_zeros(clock.hours().count(), 2) + ":" + with_zeros(clock.minutes().count(), 2) + ":" +
         with_zeros(clock.seconds().count(), 2);
}

// Returns the number `tenths` / 10 and its unit as text: "4.2 s", but "4 s" instead of "4.0 s".
std::string with_tenth(std::int64_t tenths, std::string_view unit) {
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + " " + std::string(unit);
}

std::string two_units(std::int64_t large, std::string_view large_unit, std::int64_t small,
                      std::string_view small_unit) {
  std::string text = std::to_string(large) + " " + std::string(large_unit);
  if (small != 0) text += " " + std::to_string(small) + " " + std::string(small_unit);
  return text;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
  using namespace std::chrono;
  const std::optional<int> year_number = take_digits(text, 4);
  if (!year_number || !take(text, '-')) return std::nullopt;
  const std::optional<int> month_number = take_digits(text, 2);
  if (!month_number || !take(text, '-')) return std::nullopt;
  const std::optional<int> day_number = take_digits(text, 2);
  if (!day_number || (!take(text, 'T') && !take(text, 't') && !take(text, ' '))) {
    return std::nullopt;
  }
  std::array<int, 3> clock{};
  // the largest hour, minute and second; second 60 is a leap second
  constexpr std::array<int, 3> most{23, 59, 60};
  for (std::size_t i = 0; i < clock.size(); ++i) {
    if (i > 0 && !take(text, ':')) return std::nullopt;
    const std::optional<int> number = take_digits(text, 2);
    if (!number || *number > most[i]) return std::nullopt;
    clock[i] = *number;
  }
  const std::optional<Duration> fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const std::optional<Duration> offset = take_offset(text);
  const year_month_day date{year{*year_number}, month{static_cast<unsigned>(*month_number)},
                            day{static_cast<unsigned>(*day_number)}};
  if (!offset || !date.ok()) return std::nullopt;
  return Moment{sys_days{date}} + hours{clock[0]} + minutes{clock[1]} + seconds{clock[2]} +
         *fraction - *offset;
}

std::string show_moment(Moment moment) {
  return date_and_time(std::chrono::floor<std::chrono::seconds>(moment), ' ') + " UTC";
}

std::string rfc3339(std::int64_t seconds) {
  constexpr std::int64_t last = 253'402'300'799;  // 9999-12-31T23:59:59Z in seconds since 1970
  const std::chrono::seconds shown{std::clamp<std::int64_t>(seconds, 0, last)};
  return date_and_time(std::chrono::sys_seconds(shown), 'T') + "Z";
}

std::string show_duration(Duration duration) {
  using namespace std::chrono;
  constexpr std::int64_t ms_a_second = 1'000;
  const std::int64_t ms = std::max<std::int64_t>(duration.count(), 0);
  if (ms < ms_a_second) return std::to_string(ms) + " ms";
  if (ms < 60 * ms_a_second) return with_tenth(ms / 100, "s");
  const std::int64_t whole_seconds = ms / ms_a_second;
  const std::int64_t whole_minutes = whole_seconds / 60;
  if (whole_minutes < 60) return two_units(whole_minutes, "min", whole_seconds % 60, "s");
  const std::int64_t whole_hours = whole_minutes / 60;
  if (whole_hours < 24) return two_units(whole_hours, "h", whole_minutes % 60, "min");
  return two_units(whole_hours / 24, "d", whole_hours % 24, "h");
}

std::string show_microseconds(std::int64_t microseconds) {
  constexpr std::int64_t us_a_ms = 1'000;
  constexpr std::int64_t us_a_second = 1'000'000;
  const std::int64_t us = std::max<std::int64_t>(microseconds, 0);
  if (us < us_a_ms) return std::to_string(us) + " us";
  if (us < us_a_second) return with_tenth(us / 100, "ms");
  return show_duration(Duration{us / us_a_ms});
}

}  // namespace upgraderctl
