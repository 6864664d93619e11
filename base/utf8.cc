#include "base/utf8.h"

namespace agent_protocol {
namespace {

unsigned byte_at(std::string_view text, std::size_t index) {
  return index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
}

bool continues(unsigned byte) {
  return (byte & 0xc0U) == 0x80;
}

// Checks the second byte of a character, whose range depends on the first byte. The ranges exclude
// overlong forms, surrogates and characters above U+10FFFF.
bool fits_after(unsigned first, unsigned second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  return first != 0xf4 || second < 0x90;
}

}  // namespace

std::size_t utf8_character_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const unsigned second = byte_at(text, 1);
  if (first < 0xc2 || first > 0xf4 || !continues(second) || !fits_after(first, second)) return 0;
  if (first < 0xe0) return 2;
  if (!continues(byte_at(text, 2))) return 0;
  if (first < 0xf0) return 3;
  return continues(byte_at(text, 3)) ? 4 : 0;
}

bool is_utf8(std::string_view text) {
  while (const std::size_t bytes = utf8_character_bytes(text))
    text.remove_prefix(bytes);
  return text.empty();
}

std::string fit_text(std::string_view text, std::size_t bytes_max, std::string_view replacement) {
  std::string fitted;
  while (!text.empty()) {
    const std::size_t bytes = text.front() == '\0' ? 0 : utf8_character_bytes(text);
    const std::string_view character = bytes == 0 ? replacement : text.substr(0, bytes);
    if (fitted.size() + character.size() > bytes_max) break;
    fitted.append(character);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return fitted;
}

std::size_t write_utf8(int character, char* to) {
  const int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr int first_bits[] = {0x00, 0xc0, 0xe0, 0xf0};
  *to++ = static_cast<char>(first_bits[more] | character >> (6 * more));
  for (int left = more; left > 0; --left)
    *to++ = static_cast<char>(0x80 | (character >> (6 * (left - 1)) & 0x3f));
  return static_cast<std::size_t>(more) + 1;
}

}  // namespace agent_protocol
