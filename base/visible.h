// Functions that make bytes from other programs visible, and safe to show, in one line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace upgrader {

// Returns the first `bytes_max` bytes of `bytes`, with "..." if there are more. Control characters
// and invalid UTF-8 become \n, \t, \r or an escape such as \x1b. All other characters stay, even a
// backslash, so escaping a text that is escaped already changes nothing.
[[nodiscard]] std::string escape(std::string_view bytes, std::size_t bytes_max);

// Returns a byte as an escape: \n, \t, \r, or its number as in \x1b.
[[nodiscard]] std::string escaped_byte(char byte);

}  // namespace upgrader
