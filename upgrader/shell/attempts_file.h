// The file in which --attempts counts starts. Its path is the value of --previous (the path of a
// link), with `.attempts` appended.
#pragma once

#include <cerrno>
#include <string>

#include "base/directory.h"
#include "upgrader/core/attempts.h"

namespace upgrader {

class AttemptsFile {
 public:
  // Opens the directory that contains the file. `path` is the value of --previous. Returns 0, or an
  // errno value if the directory cannot be opened.
  [[nodiscard]] int open(const std::string& path) { return entry_.open(path + ".attempts"); }

  // Returns the newest undamaged record of the file. Returns a count of 0 if there is no such
  // record, or if the file cannot be read or is a symbolic link.
  [[nodiscard]] Attempts read() const { return read_attempts(text()); }

  // Writes these attempts as the newest record, durably unless `hurried`. Replaces the file if it
  // has no undamaged record, or cannot be written in place. Returns 0 or an errno value. After a
  // failed write, the previous record is still the newest. After a failed sync, a power cut may
  // leave the new record or the previous one.
  [[nodiscard]] int write(const Attempts& attempts, bool hurried = false) const {
    const Directory& directory = entry_.directory;
    const NextRecord next = next_record(text(), attempts);
    int error = ENOENT;
    if (next.sound > 0) error = directory.overwrite(entry_.name, next.offset, next.text, !hurried);
    if (error != 0) return directory.replace_file(entry_.name, next.text, !hurried);
    // A file with fewer than `attempts_records` undamaged records may be new, and the upgrader that
    // made it may have been killed before it synced the directory. So sync the directory now,
    // unless `hurried`.
    return hurried || next.sound == attempts_records ? 0 : directory.sync();
  }

 private:
  [[nodiscard]] std::string text() const {
    return entry_.directory.read_file(entry_.name, attempts_file_bytes);
  }

  Entry entry_;
};

}  // namespace upgrader
