// Texts that come from others, made fit for a terminal: nothing in them may move its cursor, change
// its colours or turn what is beside them around. And how wide a text is there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace upgraderctl {

// Control characters, characters that change the direction of writing, and invalid UTF-8 become \n,
// \t, \r, \x1b or \u{202e}; all else stays.
[[nodiscard]] std::string shown(std::string_view text);

// How many columns of a terminal an escaped text takes.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// The beginning of an escaped text that fits into `columns`. If it is cut, it ends with "...".
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);

// The text with blanks behind it until it is `columns` wide.
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns);

}  // namespace upgraderctl
