#include "upgrader/core/duration.h"

#include <cstddef>
#include <cstdint>

namespace upgrader {

std::optional<Duration> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + (text[digits] - '0');
    if (number > duration_max.count()) return std::nullopt;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  const std::string_view unit = text.substr(digits);
  Duration duration{0};
  if (unit == "ms") {
    duration = Duration{number};
  } else if (unit == "s") {
    duration = std::chrono::seconds{number};
  } else if (unit == "m") {
    duration = std::chrono::minutes{number};
  } else if (unit == "h") {
    duration = std::chrono::hours{number};
  } else if (text != "0") {
    return std::nullopt;
  }
  if (duration > duration_max) return std::nullopt;
  return duration;
}

}  // namespace upgrader
