// The operator's part in an upgrade: an operator who makes the file `confirm` opens the gate, once.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace sample_agent {

class Gate {
 public:
  explicit Gate(const std::string& directory) : path_(directory + "/confirm") {}

  // Returns true if the gate has been opened, and closes it again.
  [[nodiscard]] bool take_opening() const { return unlink(path_.c_str()) == 0; }

  // Removes the file if somebody made it for an earlier upgrade.
  void close() const { unlink(path_.c_str()); }

 private:
  std::string path_;
};

}  // namespace sample_agent
