#include "base/escape.h"

#include "base/utf8.h"

namespace agent_protocol {
namespace {

// Returns the letter after the backslash, if a character has a short escape in JSON; otherwise 0.
char short_escape(char c) {
  constexpr std::string_view characters = "\"\\\b\f\n\r\t";
  constexpr std::string_view letters = "\"\\bfnrt";
  const std::size_t found = characters.find(c);
  return found == std::string_view::npos ? '\0' : letters[found];
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

std::string fit_escaped(std::string_view text, std::size_t bytes_max) {
  std::string fitted = fit_text(text, bytes_max);
  // Escaping makes a byte at most 6 bytes long. So if the escaped text is N bytes too long, cut off
  // at least N / 6 bytes of the text.
  while (escaped_bytes(fitted) > bytes_max)
    fitted = fit_text(fitted, fitted.size() - (escaped_bytes(fitted) - bytes_max + 5) / 6);
  return fitted;
}

}  // namespace agent_protocol
