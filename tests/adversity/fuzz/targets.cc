// The list of all fuzz targets, by name. See target.h.
#include <algorithm>

#include "tests/adversity/fuzz/target.h"

namespace fuzz {

std::span<const Target> targets() {
  static constexpr Target all[] = {
      {"codec", take_codec},     {"lines", take_lines}, {"core", take_core},
      {"session", take_session}, {"words", take_words}, {"control", take_control},
  };
  return all;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  return found == targets().end() ? nullptr : &*found;
}

std::string printable(std::string_view bytes) {
  static constexpr std::size_t shown_max = 400;
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes.substr(0, shown_max)) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= ' ' && value <= '~') {
      text += byte;
    } else {
      text.append("\\x").append(1, digits[value >> 4]).append(1, digits[value & 15]);
    }
  }
  return bytes.size() > shown_max ? text + "..." : text;
}

}  // namespace fuzz
