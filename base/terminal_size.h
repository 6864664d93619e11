// Reads how many columns and rows a terminal has.
#pragma once

#include <cstddef>

namespace upgrader {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Returns the size of the terminal at the descriptor `fd`. If `fd` is not a terminal, returns 80
// columns and 24 rows. Also returns 80 columns if the terminal reports 0 columns, as a serial line
// does, and 24 rows if it reports 0 rows.
[[nodiscard]] TerminalSize terminal_size(int fd);

}  // namespace upgrader
