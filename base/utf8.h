// UTF-8, as far as the protocol needs it: is a text valid, and where do its characters end.
#pragma once

#include <cstddef>
#include <string_view>

namespace agent_protocol {

// The length of the valid character that `text` begins with, or 0 if it begins with none: neither
// overlong forms, nor surrogates, nor what is above U+10FFFF is valid.
[[nodiscard]] std::size_t utf8_character_bytes(std::string_view text);

// How many bytes it begins with that are valid characters.
[[nodiscard]] std::size_t utf8_bytes(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

// Writes a character, which must be none of the surrogates, to where at least 4 bytes have room.
// Returns how many it took.
std::size_t write_utf8(int character, char* to);

}  // namespace agent_protocol
