#include "tools/agent-releases/core/moment.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace agent_releases {
namespace {

constexpr Moment minute_s = 60;
constexpr Moment hour_s = 60 * minute_s;
constexpr Moment day_s = 24 * hour_s;
constexpr Moment last_moment = 253'402'300'799;  // 9999-12-31T23:59:59Z

// The number that the next `digits` bytes are, which are taken off.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  int number = 0;
  if (text.size() < digits || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc{} || end != text.data() + digits) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view wanted) {
  if (text.empty() || wanted.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Moment> take_day(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * day_s;
}

// Hours and minutes, of a time or of an offset.
std::optional<Moment> take_hours(std::string_view& text) {
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return *hours * hour_s + *minutes * minute_s;
}

std::optional<Moment> take_offset(std::string_view& text) {
  if (take(text, "Zz")) return 0;
  const Moment sign = text.starts_with('-') ? -1 : 1;
  if (!take(text, "+-")) return std::nullopt;
  const auto offset = take_hours(text);
  return offset ? std::optional(sign * *offset) : std::nullopt;
}

void append_number(std::string& text, long number, std::size_t digits, char behind) {
  const std::string digits_of_it = std::to_string(number);
  text.append(digits - std::min(digits, digits_of_it.size()), '0');
  text += digits_of_it;
  text += behind;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
  const auto day = take_day(text);
  if (!day || !take(text, "Tt ")) return std::nullopt;
  const auto hours = take_hours(text);
  if (!hours || !take(text, ":")) return std::nullopt;
  const auto seconds = take_number(text, 2);
  if (!seconds || *seconds > 60) return std::nullopt;
  if (take(text, ".")) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    if (end == 0) return std::nullopt;
    text.remove_prefix(end);
  }
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return *day + *hours + *seconds - *offset;
}

std::string to_text(Moment moment) {
  moment = std::clamp<Moment>(moment, 0, last_moment);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days(moment / day_s)}};
  const Moment second = moment % day_s;
  std::string text;
  append_number(text, static_cast<int>(date.year()), 4, '-');
  append_number(text, static_cast<long>(static_cast<unsigned>(date.month())), 2, '-');
  append_number(text, static_cast<long>(static_cast<unsigned>(date.day())), 2, 'T');
  append_number(text, second / hour_s, 2, ':');
  append_number(text, second % hour_s / minute_s, 2, ':');
  append_number(text, second % minute_s, 2, 'Z');
  return text;
}

}  // namespace agent_releases
