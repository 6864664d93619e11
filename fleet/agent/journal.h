// What a node must not forget although it dies: the command that it has begun to obey. On disk, and
// synced, before it is obeyed.
#pragma once

#include <string>
#include <utility>

namespace fleet {

class Journal {
 public:
  // The file is made when something is to be remembered; its directory exists.
  explicit Journal(std::string path) : path_(std::move(path)) {}

  // As it is on disk.
  void read();

  // The id of the command begun last; empty: none.
  [[nodiscard]] const std::string& begun() const { return begun_; }
  // False: it is not on disk, and must not be obeyed.
  [[nodiscard]] bool begin(const std::string& command);

 private:
  std::string path_;
  std::string begun_;
};

}  // namespace fleet
