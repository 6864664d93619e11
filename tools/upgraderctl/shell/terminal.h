// Standard output, for a person at a terminal or for a pipe; and standard error. At a terminal
// lines can be painted anew in place: no colours, no other screen, the cursor stays visible, so
// that whatever ends the program leaves the terminal as it was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upgraderctl {

class Terminal {
 public:
  Terminal();

  // Whether lines can be painted anew.
  [[nodiscard]] bool repaints() const { return repaints_; }

  [[nodiscard]] std::size_t columns() const;

  // A line that stays, on standard output.
  void line(std::string_view text);

  // Bytes as they are, on standard output.
  void bytes(std::string_view text);

  // A line of upgraderctl's own, on standard error.
  void complain(std::string_view text);

  // Lines that the next call of any function replaces. Nothing where they cannot be painted anew.
  void paint(const std::vector<std::string>& lines);

  // Leaves what was painted last, with the cursor below.
  void leave();

  // Standard output takes nothing more: whoever read it has gone, or a disk is full.
  [[nodiscard]] bool is_broken() const { return error_number_ != 0; }
  [[nodiscard]] int error_number() const { return error_number_; }

 private:
  [[nodiscard]] std::size_t rows() const;
  void wipe();
  void put(int fd, std::string_view text);

  bool repaints_ = false;
  std::size_t painted_ = 0;  // lines
  int error_number_ = 0;
};

}  // namespace upgraderctl
