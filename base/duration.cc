#include "base/duration.h"

#include <cstdint>

#include "base/number.h"

namespace upgrader {

std::optional<Duration> parse_duration(std::string_view text) {
  std::string_view unit = text;
  const std::optional<std::int64_t> taken = take_number(unit);
  if (!taken || *taken == too_large || *taken > duration_max.count()) return std::nullopt;
  const std::int64_t number = *taken;
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
