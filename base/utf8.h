// UTF-8, as far as the protocol needs it: whether a text is valid, and where its characters end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agent_protocol {

// Returns the length in bytes of the valid character at the beginning of `text`, or 0 if there is
// none. Overlong forms, surrogates and characters above U+10FFFF are not valid.
[[nodiscard]] std::size_t utf8_character_bytes(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

// Returns `text` cut to at most `bytes_max` bytes, between characters. `replacement` (U+FFFD)
// stands for each byte that is not valid UTF-8, and for each U+0000.
[[nodiscard]] std::string fit_text(std::string_view text,
                                   std::size_t bytes_max = std::string_view::npos,
                                   std::string_view replacement = "\xef\xbf\xbd");

// Writes a character to `to`, and returns how many bytes were written. The character must not be a
// surrogate, and `to` must have room for 4 bytes.
std::size_t write_utf8(int character, char* to);

}  // namespace agent_protocol
