// Whole decimal numbers in texts, without a sign.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
// the value that stands for every number larger than number_max
inline constexpr std::int64_t too_large = -1;

// Removes the digits at the beginning of `text`, and returns their value. If `text` begins with no
// digit, returns nothing and changes nothing.
[[nodiscard]] std::optional<std::int64_t> take_number(std::string_view& text);

// Returns the value of a text that consists of a number alone. Returns nothing for other texts, and
// for a number larger than `max`.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text,
                                                       std::int64_t max = number_max);

}  // namespace upgrader
