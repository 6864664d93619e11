#include "base/shown.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"
#include "base/visible.h"

namespace upgraderctl {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Ranges of characters that are invisible, but change the direction or shape of the characters
// around them.
constexpr Range commands[] = {
    {0x80, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

// Ranges of characters that are drawn over the character before them, and take no column.
constexpr Range combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x64b, 0x65f},   {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

// Ranges of characters that take two columns of a terminal.
constexpr Range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

template <std::size_t count>
bool is_in(const Range (&ranges)[count], std::uint32_t character) {
  return std::any_of(std::begin(ranges), std::end(ranges), [character](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

// Returns the character that the first `bytes` bytes of `text` encode, which must be valid UTF-8.
std::uint32_t character_of(std::string_view text, std::size_t bytes) {
  constexpr std::uint32_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t character = static_cast<unsigned char>(text[0]) & first_bits[bytes];
  for (std::size_t i = 1; i < bytes; ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return character;
}

std::string hexadecimal(std::uint32_t number) {
  std::string digits;
  for (; number != 0; number /= 16) {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  }
  return digits;
}

std::string four_digits(std::uint32_t number) {
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[(number >> shift) & 0xfU];
  return text;
}

// Returns a character as a JSON escape. A character beyond U+FFFF becomes a surrogate pair, that
// is, two escapes.
std::string spelled(std::uint32_t character) {
  if (character < 0x10000U) return four_digits(character);
  character -= 0x10000U;
  return four_digits(0xd800U + (character >> 10U)) + four_digits(0xdc00U + (character & 0x3ffU));
}

bool is_control(char byte) {
  return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
}

std::size_t columns_of_character(std::uint32_t character) {
  if (is_in(combining, character)) return 0;
  return is_in(wide, character) ? 2 : 1;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t bytes = agent_protocol::utf8_character_bytes(text);
    if (bytes == 0 || is_control(text[0])) {
      escaped += upgrader::escaped_byte(text[0]);
      text.remove_prefix(1);
      continue;
    }
    const std::uint32_t character = character_of(text, bytes);
    if (is_in(commands, character)) {
      escaped += "\\u{" + hexadecimal(character) + "}";
    } else {
      escaped += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return escaped;
}

std::string shown_json(std::string_view json) {
  constexpr std::string_view no_character = "\\ufffd";
  std::string text;
  while (!json.empty()) {
    const std::size_t bytes = agent_protocol::utf8_character_bytes(json);
    const std::string_view character = json.substr(0, std::max<std::size_t>(bytes, 1));
    const bool is_space = character == "\n" || character == "\t";
    if (bytes == 0) {
      text += no_character;
    } else if (character == "\r") {
      text += ' ';  // a bare \r is only white space between JSON tokens
    } else if (is_space || shown(character) == character) {
      text += character;
    } else {
      text += spelled(character_of(character, bytes));
    }
    json.remove_prefix(character.size());
  }
  return text;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(agent_protocol::utf8_character_bytes(text), 1);
    columns += columns_of_character(character_of(text, bytes));
    text.remove_prefix(bytes);
  }
  return columns;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  constexpr std::string_view more = "...";
  if (columns < more.size()) return std::string(more.substr(0, columns));
  std::string part;
  std::size_t taken = 0;
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(agent_protocol::utf8_character_bytes(text), 1);
    taken += columns_of_character(character_of(text, bytes));
    if (taken + more.size() > columns) break;
    part += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return part + std::string(more);
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t taken = columns_of(text);
  return std::string(text) + std::string(columns > taken ? columns - taken : 0, ' ');
}

}  // namespace upgraderctl
