// Lets an operator open the gate of an upgrade: the operator makes the file `confirm`, and each
// file opens the gate once.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace sample_agent {

class Gate {
 public:
  explicit Gate(const std::string& directory) : path_(directory + "/confirm") {}

  // Returns true if the operator has made the file, and removes the file.
  [[nodiscard]] bool take_opening() const { return unlink(path_.c_str()) == 0; }

  // Removes the file if somebody made it for an earlier upgrade.
  void close() const { unlink(path_.c_str()); }

 private:
  std::string path_;
};

}  // namespace sample_agent
