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

}  // namespace agent_protocol
