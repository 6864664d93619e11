// Whole decimal numbers in texts, without a sign.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
// number that stands for every number larger than number_max
inline constexpr std::int64_t too_large = -1;

// Removes the digits at the beginning of `text`, and returns their value. If there are none,
// returns nothing and leaves `text` as it is.
[[nodiscard]] std::optional<std::int64_t> take_number(std::string_view& text);

// Returns the value of a text that is a number and nothing else; returns nothing for other texts,
// and for a number larger than `max`.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text,
                                                       std::int64_t max = number_max);

}  // namespace upgrader
