#include "base/duration.h"

#include <cstdint>

#include "base/number.h"

namespace upgrader {

std::optional<Duration> parse_length(std::string_view text) {
  constexpr std::int64_t number_most = 999'999'999;
  std::string_view unit = text;
  const std::optional<std::int64_t> number = take_number(unit);
  if (!number || *number == too_large || *number > number_most) return std::nullopt;
  if (unit == "ms" || text == "0") return Duration{*number};
  if (unit == "s") return std::chrono::seconds{*number};
  if (unit == "m") return std::chrono::minutes{*number};
  if (unit == "h") return std::chrono::hours{*number};
  if (unit == "d") return std::chrono::hours{24 * *number};
  return std::nullopt;
}

std::optional<Duration> parse_duration(std::string_view text) {
  if (text.ends_with('d')) return std::nullopt;
  const std::optional<Duration> duration = parse_length(text);
  return duration && *duration <= duration_max ? duration : std::nullopt;
}

}  // namespace upgrader
