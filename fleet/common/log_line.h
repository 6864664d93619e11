// Writes one line of a program's log to standard error. Parts of the text come from outside, such
// as records, answers or the output of hooks. So the text is escaped: it cannot begin a second
// line, and cannot send control sequences to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

// The maximum number of bytes of a line. A longer line is cut, as in the upgrader's log.
inline constexpr std::size_t log_columns_max = 4'000;

// Returns the text in the form in which the log shows it: escaped, and cut if it is too long.
[[nodiscard]] std::string log_text(std::string_view text);

// Writes the line `PROGRAM: TEXT` to standard error.
void log_line(std::string_view program, std::string_view text);

}  // namespace fleet
