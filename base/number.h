// Whole decimal numbers in texts, without a sign.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace upgrader {

inline constexpr std::int64_t number_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t too_large = -1;  // what stands for a number beyond that

// Takes the digits that `text` begins with. Nothing, and `text` stays as it is, where it begins
// with none.
[[nodiscard]] std::optional<std::int64_t> take_number(std::string_view& text);

// Nothing if there is anything else in `text`, or if the number is larger than `max`.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text,
                                                       std::int64_t max = number_max);

}  // namespace upgrader
