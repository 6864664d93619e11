// One line of a program's log on standard error. Parts of its text come from others:
// records, answers, the output of hooks. So nothing in it may begin another line, or be a command
// to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

// A longer line is cut, as the upgrader's is.
inline constexpr std::size_t log_columns_max = 4'000;

// The text as the log has it: escaped, and cut.
[[nodiscard]] std::string log_text(std::string_view text);

// `PROGRAM: TEXT`
void log_line(std::string_view program, std::string_view text);

}  // namespace fleet
