// Tables of numbers and their names, for errors and signals. The tables contain no addresses, so
// the loader need not change them when the program starts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace upgrader {

struct NamedNumber {
  std::uint16_t number;
  char name[14];
};
// Makes an entry of a table from a constant's name.
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
