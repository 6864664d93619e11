// UTF-8, as far as the protocol needs it: whether a text is valid, and where its characters end.
#pragma once

#include <cstddef>
#include <string_view>

namespace agent_protocol {

// Returns the length in bytes of the valid character at the beginning of `text`, or 0 if there is
// none. Overlong forms, surrogates and characters above U+10FFFF are not valid.
[[nodiscard]] std::size_t utf8_character_bytes(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

// Writes a character, which must not be a surrogate, to `to`, where at least 4 bytes must be free.
// Returns how many bytes were written.
std::size_t write_utf8(int character, char* to);

}  // namespace agent_protocol
