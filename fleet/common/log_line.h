// Writes log lines to standard error, and finds the last line of another program's output. Log
// lines are escaped, since they may quote records or other programs: such text must not begin a new
// line or send control sequences to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

// The most bytes of a line of the log, as in the upgrader's log. A longer line is cut.
inline constexpr std::size_t log_columns_max = 4'000;

// Returns the text as the log shows it: escaped, and cut if it is too long.
[[nodiscard]] std::string log_text(std::string_view text);

// Writes the line `PROGRAM: TEXT` to standard error. Never blocks: if the reader of the log is too
// slow, the line is lost.
void log_line(std::string_view program, std::string_view text);

// ---- the last line of a program's output, to be put into a record of the store

// The most bytes of a program's last line that are put into a record.
inline constexpr std::size_t last_line_bytes_max = 512;

// Returns the last line of the text as printable ASCII. All other bytes become `?`.
[[nodiscard]] inline std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  text = text.substr(text.rfind('\n') + 1);
  std::string line(text.substr(0, last_line_bytes_max));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return line;
}

}  // namespace fleet
