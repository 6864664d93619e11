// Names of numbers, such as those of errors and signals, in tables that need no addresses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace upgrader {

struct NamedNumber {
  std::uint16_t number;
  char name[14];
};
// Makes a table's entry of a constant.
#define NAMED(constant) \
  { constant, #constant }

// Returns the first name of the number, or null if the table has none.
template <std::size_t count>
[[nodiscard]] const char* name_in(const NamedNumber (&table)[count], int number) {
  for (const NamedNumber& named : table) {
    if (named.number == number) return named.name;
  }
  return nullptr;
}

}  // namespace upgrader
