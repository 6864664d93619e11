// Makes foreign bytes visible in one line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace upgrader {

// Returns the first `bytes_max` bytes of `bytes`, with "..." if there are more. Control characters
// and invalid UTF-8 become \n, \t, \r or \x1b; all else stays, so that escaping twice changes
// nothing.
[[nodiscard]] std::string escape(std::string_view bytes, std::size_t bytes_max);

// Returns a byte as an escape: \n, \t, \r or \x1b.
[[nodiscard]] std::string escaped_byte(char byte);

}  // namespace upgrader
