// Prints on standard output, which may be a terminal, and on standard error. On a terminal, lines
// that were printed can be replaced by new lines. Uses no colors and no alternate screen, and
// leaves the cursor visible, so that the terminal is usable even if upgraderctl is killed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upgraderctl {

class Terminal {
 public:
  Terminal();

  // Returns true if lines that were printed can be replaced by new lines, as on a terminal.
  [[nodiscard]] bool repaints() const { return repaints_; }

  [[nodiscard]] std::size_t columns() const;

  // Writes a line to standard output. The line is never replaced later.
  void line(std::string_view text);

  // Writes bytes unchanged to standard output.
  void bytes(std::string_view text);

  // Writes a message of upgraderctl itself to standard error.
  void complain(std::string_view text);

  // Writes lines that the next call of any output function replaces. Does nothing if repaints()
  // returns false.
  void paint(const std::vector<std::string>& lines);

  // Makes the lines that paint() wrote last stay on the screen: no later output replaces them.
  void leave();

  // Returns true if a write to standard output has failed, for example because the reader has
  // closed the pipe or the disk is full.
  [[nodiscard]] bool is_broken() const { return error_number_ != 0; }
  [[nodiscard]] int error_number() const { return error_number_; }

 private:
  void wipe();
  void put(int fd, std::string_view text);

  bool repaints_ = false;
  std::size_t painted_ = 0;  // how many lines were written by paint() and must be replaced
  int error_number_ = 0;
};

}  // namespace upgraderctl
