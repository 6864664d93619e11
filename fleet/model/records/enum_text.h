// This file converts the values of an enumeration to the strings that stand for them, for example
// in records, and back. The first value stands for a string that this program does not know. Most
// enumerations call it `unknown`: so a record stays readable even if a newer program has written a
// new value into it. Each enumeration, such as Stage, needs a function
//   constexpr auto names(Stage) { return std::to_array<std::string_view>({"unknown", ...}); }
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace fleet {

template <class Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  names(value)[0];
};

template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view text_of(Enum value) {
  constexpr auto all = names(Enum{});
  const auto index = static_cast<std::size_t>(value);
  return index < all.size() ? all[index] : all[0];
}

template <NamedEnum Enum>
[[nodiscard]] constexpr Enum value_of(std::string_view text) {
  constexpr auto all = names(Enum{});
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (all[index] == text) return static_cast<Enum>(index);
  }
  return Enum{};
}

}  // namespace fleet
