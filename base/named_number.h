// Names of numbers, such as those of errors and signals, in tables that need no addresses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace upgrader {

struct NamedNumber {
  std::uint16_t number;
  char name[14];
};
// Of a constant: its number, and what it is called.
#define NAMED(constant) \
  { constant, #constant }

// The first name of that number; or null.
template <std::size_t count>
[[nodiscard]] const char* name_in(const NamedNumber (&table)[count], int number) {
  for (const NamedNumber& named : table) {
    if (named.number == number) return named.name;
  }
  return nullptr;
}

}  // namespace upgrader
