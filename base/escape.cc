#include "base/escape.h"

namespace agent_protocol {
namespace {

// Returns the letter of the short escape for a character, or 0 if there is none.
char short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

}  // namespace

std::size_t escaped_bytes(std::string_view text) {
  std::size_t bytes = 0;
  for (const char c : text)
    bytes += short_escape(c) != 0 ? 2 : is_control(c) ? 6 : 1;
  return bytes;
}

void append_quoted(std::string& line, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  line += '"';
  for (const char c : text) {
    if (const char letter = short_escape(c); letter != 0) {
      line += '\\';
      line += letter;
    } else if (is_control(c)) {
      line.append("\\u00");
      line += hex[static_cast<unsigned char>(c) >> 4U];
      line += hex[static_cast<unsigned char>(c) & 0xfU];
    } else {
      line += c;
    }
  }
  line += '"';
}

}  // namespace agent_protocol
