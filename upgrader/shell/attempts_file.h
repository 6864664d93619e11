// The file of --attempts: beside the link of --previous, under its name with `.attempts` behind it.
#pragma once

#include <limits.h>

#include <string>

#include "base/directory.h"
#include "upgrader/core/attempts.h"

namespace upgrader {

class AttemptsFile {
 public:
  // `path` is that of the link of --previous. Returns 0, or an errno value if the directory cannot
  // be opened.
  [[nodiscard]] int open(const std::string& path) { return entry_.open(path + ".attempts"); }

  // Returns the file's contents; no attempts if it cannot be read, is damaged, or is a link.
  [[nodiscard]] Attempts read() const {
    constexpr std::size_t bytes_max = std::size_t{2} * PATH_MAX;  // a number, a path, a sentence
    return read_attempts(entry_.directory.read_file(entry_.name, bytes_max));
  }

  // Makes the file say this, durably unless `hurried`. Returns 0 or an errno value; then it is as
  // it was.
  [[nodiscard]] int write(const Attempts& attempts, bool hurried = false) const {
    return entry_.directory.replace_file(entry_.name, print(attempts), !hurried);
  }

 private:
  Entry entry_;
};

}  // namespace upgrader
