// The programs that all points of a run use, in a directory that is removed at the end.
#pragma once

#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

class Theatre {
 public:
  // Copies the programs beside this one, and the upgrader that UPGRADER names, if that is set.
  Theatre();
  ~Theatre();
  Theatre(const Theatre&) = delete;
  Theatre& operator=(const Theatre&) = delete;

  [[nodiscard]] const Cast& cast() const { return cast_; }

 private:
  std::string directory_;
  Cast cast_;
  // The process that made the directory, and alone may remove it; its forked workers must not.
  int owner_;
};

std::vector<std::string> lines_of(const std::string& text);

// Returns 1234567 as 1,234,567.
std::string with_commas(std::size_t number);

}  // namespace kill_points
