// Texts as JSON spells them: escaped are only the quote, the backslash and U+0000 to U+001F, each
// in its shortest form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agent_protocol {

// Appends `text` in quotes.
void append_quoted(std::string& line, std::string_view text);

// How long `text` is when it is escaped, without the quotes.
[[nodiscard]] std::size_t escaped_bytes(std::string_view text);

}  // namespace agent_protocol
