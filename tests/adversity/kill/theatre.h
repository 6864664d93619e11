// The programs that all kill points use, in a directory that is removed at the end of the run.
#pragma once

#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

class Theatre {
 public:
  // Copies the programs that lie beside this test program. If the variable UPGRADER is set, copies
  // the upgrader that it names.
  Theatre();
  ~Theatre();
  Theatre(const Theatre&) = delete;
  Theatre& operator=(const Theatre&) = delete;

  [[nodiscard]] const Cast& cast() const { return cast_; }

 private:
  std::string directory_;
  Cast cast_;
  // The process that made the directory. Only this process may remove the directory, and not a
  // forked worker.
  int owner_;
};

std::vector<std::string> lines_of(const std::string& text);

// Returns 1234567 as 1,234,567.
std::string with_commas(std::size_t number);

}  // namespace kill_points
