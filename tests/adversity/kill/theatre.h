// All points of a run share this: the programs that play, and their directory, which is removed at
// the end.
#pragma once

#include <string>
#include <vector>

#include "tests/adversity/kill/scene.h"

namespace kill_points {

class Theatre {
 public:
  // The programs are those beside this one, UPGRADER another upgrader.
  Theatre();
  ~Theatre();
  Theatre(const Theatre&) = delete;
  Theatre& operator=(const Theatre&) = delete;

  [[nodiscard]] const Cast& cast() const { return cast_; }

 private:
  std::string directory_;
  Cast cast_;
  int owner_;  // a worker that is forked from it removes nothing
};

std::vector<std::string> lines_of(const std::string& text);

// 1234567 as 1,234,567.
std::string with_commas(std::size_t number);

}  // namespace kill_points
