// Whole decimal numbers in texts, without a sign.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t too_large = -1;  // in the place of a number beyond number_max

// Takes the digits that `text` begins with. If it does not begin with a digit, returns nothing and
// leaves `text` as it is.
[[nodiscard]] std::optional<std::int64_t> take_number(std::string_view& text);

// Returns nothing if `text` is not just a number, or if the number is larger than `max`.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text,
                                                       std::int64_t max = number_max);

}  // namespace upgrader
