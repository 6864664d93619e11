// Functions that make strings and JSON from other programs safe to show on a terminal: the result
// cannot move the cursor, change colors or reverse the text beside it. Other functions count the
// columns that a text takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace upgraderctl {

// Returns the text with escapes such as \n, \x1b or \u{202e} in the place of control characters,
// characters that change the direction of writing, and invalid UTF-8.
[[nodiscard]] std::string shown(std::string_view text);

// Returns the JSON with each control character for a terminal replaced by its JSON escape (`\u` and
// four digits). Invalid UTF-8 is replaced by the escape of U+FFFD. Apart from that, a program that
// parses the JSON gets the same values as without the escapes.
[[nodiscard]] std::string shown_json(std::string_view json);

// Returns how many columns of a terminal `text` takes. shown() must have escaped this text.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// Returns `text`, which shown() must have escaped, cut to at most `columns` columns. A text that
// was cut ends with "...".
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);

// Returns the text with blanks appended until it is `columns` wide.
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns);

}  // namespace upgraderctl
