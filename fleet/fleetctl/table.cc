#include "fleet/fleetctl/table.h"

#include <algorithm>

#include "base/shown.h"
#include "base/utf8.h"

namespace fleetctl {
namespace {

std::string four_digits(unsigned number) {
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[(number >> shift) & 0xfU];
  return text;
}

// Returns a character as a JSON escape. A character beyond U+FFFF becomes two escapes, a surrogate
// pair.
std::string spelled(std::string_view character) {
  constexpr unsigned first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  unsigned code = static_cast<unsigned char>(character[0]) & first_bits[character.size()];
  for (const char byte : character.substr(1))
    code = code << 6U | (static_cast<unsigned char>(byte) & 0x3fU);
  if (code < 0x10000U) return four_digits(code);
  code -= 0x10000U;
  return four_digits(0xd800U + (code >> 10U)) + four_digits(0xdc00U + (code & 0x3ffU));
}

}  // namespace

std::vector<std::string> table(std::vector<upgraderctl::Row> rows) {
  for (upgraderctl::Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      row[i] = upgraderctl::cut(upgraderctl::shown(row[i]),
                                last ? last_cell_columns_max : cell_columns_max);
    }
  }
  return upgraderctl::in_columns(rows);
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
    } else if (is_space || upgraderctl::shown(character) == character) {
      text += character;
    } else {
      text += spelled(character);
    }
    json.remove_prefix(character.size());
  }
  return text;
}

}  // namespace fleetctl
