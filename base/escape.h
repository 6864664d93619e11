// Functions that escape strings for JSON: they escape only the quote, the backslash and U+0000 to
// U+001F, each in its shortest form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agent_protocol {

// Appends `text` to a line, escaped and in quotes.
void append_quoted(std::string& line, std::string_view text);

// Returns how many bytes `text` takes when it is escaped, without quotes.
[[nodiscard]] std::size_t escaped_bytes(std::string_view text);

// Returns `text` as valid UTF-8, cut between characters, as fit_text() in utf8.h does. But here
// `bytes_max` limits the escaped text, without the quotes.
[[nodiscard]] std::string fit_escaped(std::string_view text, std::size_t bytes_max);

}  // namespace agent_protocol
