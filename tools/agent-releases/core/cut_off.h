// Splits a string at a separator, piece by piece.
#pragma once

#include <cstddef>
#include <string_view>

namespace agent_releases {

// Removes the first piece of `text` and the separator after it. Returns the piece. If there is no
// separator, the whole text is the piece.
inline std::string_view cut_off(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace agent_releases
