// Makes foreign texts fit for a terminal: nothing in them can move the cursor, change colours or
// reverse the text beside them. Also counts the columns of a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace upgraderctl {

// Returns the text with control characters, characters that change the direction of writing, and
// invalid UTF-8 written as \n, \t, \r, \x1b or \u{202e}.
[[nodiscard]] std::string shown(std::string_view text);

// Returns how many columns of a terminal an escaped text takes.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// Returns the beginning of an escaped text that fits into `columns`. If it is cut, it ends with
// "...".
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);

// Returns the text with blanks appended until it is `columns` wide.
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns);

}  // namespace upgraderctl
