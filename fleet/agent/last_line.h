// The last line of what a program wrote, for a record. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fleet {

// A line is cut to so many bytes, since a record holds other things beside it.
inline constexpr std::size_t last_line_bytes_max = 512;

// Without what is no text: bytes beyond ASCII and control characters become `?`.
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
