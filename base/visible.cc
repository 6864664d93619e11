#include "base/visible.h"

#include <algorithm>

#include "base/utf8.h"

namespace upgrader {
namespace {

// Returns the size in bytes of the first character of `text`; 0 if `text` does not begin with valid
// UTF-8, or begins with a control character.
std::size_t shown_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = agent_protocol::utf8_character_bytes(text);
  const bool control = first < 0x20U || first == 0x7fU ||
                       (size == 2 && first == 0xc2U && static_cast<unsigned char>(text[1]) < 0xa0U);
  return control ? 0 : size;
}

}  // namespace

std::string escaped_byte(char byte) {
  constexpr char digits[] = "0123456789abcdef";
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  const auto value = static_cast<unsigned char>(byte);
  return {'\\', 'x', digits[value >> 4U], digits[value & 0xfU]};
}

std::string escape(std::string_view bytes, std::size_t bytes_max) {
  std::string text;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t size = shown_bytes(bytes.substr(at));
    const std::size_t taken = std::max<std::size_t>(size, 1);
    if (at + taken > bytes_max) return text + "...";
    text += size == 0 ? escaped_byte(bytes[at]) : std::string(bytes.substr(at, size));
    at += taken;
  }
  return text;
}

}  // namespace upgrader
