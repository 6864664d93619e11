// Finds the last line of a program's output, to be put into a record of the store. Does no input or
// output.
#pragma once

#include <string>
#include <string_view>

namespace fleet {

// The maximum number of bytes of the line. The limit is small since the record has other members,
// too.
inline constexpr std::size_t last_line_bytes_max = 512;

// Returns the last line as printable ASCII: all other bytes become `?`.
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
