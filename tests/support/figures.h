// Formats numbers for reports that people read.
#pragma once

#include <cstdint>
#include <string>

namespace upgrader::test {

// Returns a number with commas, such as "1,204".
[[nodiscard]] inline std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

}  // namespace upgrader::test
