// The file in which --attempts counts starts. It has the path of the link of --previous with
// `.attempts` appended.
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

  // Returns the file's contents; no attempts if the file cannot be read, is damaged, or is a
  // symbolic link.
  [[nodiscard]] Attempts read() const {
    // The most bytes of the file, which holds a number, a path and a sentence.
    constexpr std::size_t bytes_max = std::size_t{2} * PATH_MAX;
    return read_attempts(entry_.directory.read_file(entry_.name, bytes_max));
  }

  // Replaces the content of the file, durably unless `hurried`. Returns 0, or an errno value if the
  // file is unchanged.
  [[nodiscard]] int write(const Attempts& attempts, bool hurried = false) const {
    return entry_.directory.replace_file(entry_.name, print(attempts), !hurried);
  }

 private:
  Entry entry_;
};

}  // namespace upgrader
