// Writes a line of a program's log to standard error, and finds the last line of another program's
// output. Parts of a log line may come from outside, for example from records, answers or the
// output of hooks. So each log line is escaped: such a part cannot begin a second line, and cannot
// send control sequences to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

// The maximum number of bytes of a line of the log. A longer line is cut, as in the upgrader's log.
inline constexpr std::size_t log_columns_max = 4'000;

// Returns the text as the log shows it: escaped, and cut if it is too long.
[[nodiscard]] std::string log_text(std::string_view text);

// Writes the line `PROGRAM: TEXT` to standard error. Never waits: a reader of the log that has
// stopped must not stop this process, too, so the line is lost if there is no room for it.
void log_line(std::string_view program, std::string_view text);

// ---- the last line of a program's output, to be put into a record of the store

// The maximum number of bytes that are kept of a program's last line. The limit is small, since the
// record that contains the line has other members, too.
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
