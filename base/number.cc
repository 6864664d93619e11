#include "base/number.h"

namespace upgrader {

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::optional<std::int64_t> number;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    const std::int64_t before = number.value_or(0);
    const int digit = text.front() - '0';
    const bool fits = before != too_large && before <= (number_max - digit) / 10;
    number = fits ? before * 10 + digit : too_large;
    text.remove_prefix(1);
  }
  return number;
}

std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t max) {
  const std::optional<std::int64_t> number = take_number(text);
  return text.empty() && number && *number != too_large && *number <= max ? number : std::nullopt;
}

}  // namespace upgrader
