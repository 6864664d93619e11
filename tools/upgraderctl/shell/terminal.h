// Prints on standard output, to a terminal or a pipe, and on standard error. On a terminal, lines
// can be painted again in place. Uses no colours and no second screen, and leaves the cursor
// visible, so that the terminal is usable even if the program is killed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upgraderctl {

class Terminal {
 public:
  Terminal();

  // Returns true if lines that were written can be replaced by new ones.
  [[nodiscard]] bool repaints() const { return repaints_; }

  [[nodiscard]] std::size_t columns() const;

  // Writes a line to standard output. The line stays there: it is never replaced.
  void line(std::string_view text);

  // Writes bytes unchanged to standard output.
  void bytes(std::string_view text);

  // Writes a line of upgraderctl's own to standard error.
  void complain(std::string_view text);

  // Paints lines that the next call of any function replaces. Does nothing if lines cannot be
  // painted again.
  void paint(const std::vector<std::string>& lines);

  // Keeps the lines that were painted last, and puts the cursor below them.
  void leave();

  // Returns true if nothing more can be written to standard output: its reader has gone, or the
  // disk is full.
  [[nodiscard]] bool is_broken() const { return error_number_ != 0; }
  [[nodiscard]] int error_number() const { return error_number_; }

 private:
  [[nodiscard]] std::size_t rows() const;
  void wipe();
  void put(int fd, std::string_view text);

  bool repaints_ = false;
  std::size_t painted_ = 0;  // how many lines the next call has to replace
  int error_number_ = 0;
};

}  // namespace upgraderctl
