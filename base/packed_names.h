// Names of numbers, such as those of errors and signals, as they lie in the program: one behind the
// other, without the room that a table of texts of different lengths would leave unused.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace upgrader {

struct NamedNumber {
  int number = 0;
  const char* name = nullptr;
};
// Of a constant: its number, and what it is called.
#define NAMED(constant) \
  { constant, #constant }

template <std::size_t count, std::size_t bytes>
struct PackedNames {
  std::array<std::uint16_t, count> numbers{};
  std::array<char, bytes> names{};

  // The first name of that number; or null.
  [[nodiscard]] const char* find(int number) const {
    const char* name = names.data();
    for (const std::uint16_t known : numbers) {
      if (known == number) return name;
      while (*name++ != '\0') {
      }
    }
    return nullptr;
  }
};

// Packs `table` while compiling: where nothing else uses it, the table is not in the program.
template <const auto& table>
consteval auto packed_names() {
  constexpr std::size_t bytes = [] {
    std::size_t sum = 0;
    for (const NamedNumber& named : table)
      for (const char* at = named.name; at == named.name || at[-1] != '\0'; ++at)
        ++sum;
    return sum;
  }();
  PackedNames<std::size(table), bytes> packed;
  std::size_t end = 0;
  for (std::size_t i = 0; i < std::size(table); ++i) {
    packed.numbers.at(i) = static_cast<std::uint16_t>(table[i].number);
    const char* at = table[i].name;
    do {
      packed.names.at(end++) = *at;
    } while (*at++ != '\0');
  }
  return packed;
}

}  // namespace upgrader
