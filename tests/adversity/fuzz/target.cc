#include "tests/adversity/fuzz/target.h"

#include <algorithm>
#include <iterator>

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

std::size_t interesting_length(unsigned char code) {
  static constexpr std::size_t lengths[] = {
      2,  3,  5,  7,  11, 15,  16,  17,  18,  19,  20,  31,  32,  33,    34,    40,
      50, 63, 64, 65, 66, 127, 128, 129, 199, 200, 201, 255, 256, 1'023, 1'024, 1'025,
  };
  // Only 16 of the 256 values of `code` stand for long lengths, since tests with long lines are
  // slow.
  static constexpr std::size_t long_lengths[] = {
      4'094,  4'095,  4'096,  10'833, 10'834, 32'499, 32'500, 32'767,
      32'768, 32'769, 64'999, 65'000, 65'001, 65'534, 65'535, 65'536,
  };
  static constexpr unsigned char first_long = 0xf0;
  if (code >= first_long) return long_lengths[code - first_long];
  return lengths[code % std::size(lengths)];
}

std::string unfold(std::string_view input, std::size_t bytes_max) {
  static constexpr unsigned char repeat = 0x01;
  static constexpr std::size_t unit_max = 16;
  std::string unfolded;
  Bytes bytes(input);
  while (!bytes.empty() && unfolded.size() < bytes_max) {
    const unsigned char byte = bytes.take();
    if (byte != repeat) {
      unfolded += static_cast<char>(byte);
      continue;
    }
    const std::size_t length = interesting_length(bytes.take());
    const std::string_view unit = bytes.take(bytes.take() % unit_max + 1);
    if (unit.empty()) break;
    for (std::size_t begin = 0; begin < length; begin += unit.size()) {
      unfolded.append(unit.substr(0, std::min(unit.size(), length - begin)));
    }
  }
  if (unfolded.size() > bytes_max) unfolded.resize(bytes_max);
  return unfolded;
}

}  // namespace fuzz
