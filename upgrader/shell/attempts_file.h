// The file in which --attempts counts starts. It has the path of the link of --previous with
// `.attempts` appended.
#pragma once

#include <cerrno>
#include <cstddef>
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
  [[nodiscard]] Attempts read() const { return read_attempts(records()); }

  // Writes these attempts as the newest record, durably unless `hurried`. Returns 0, or an errno
  // value if the attempts before are still the newest. A file without a sound record, or one that
  // cannot be opened for writing, is replaced.
  [[nodiscard]] int write(const Attempts& attempts, bool hurried = false) const {
    const Directory& directory = entry_.directory;
    const NextRecord next = next_record(records(), attempts);
    int error = ENOENT;
    if (next.sound > 0) {
      error =
          directory.overwrite(entry_.name, next.place * attempts_record_bytes, next.text, !hurried);
    }
    if (error != 0) return directory.replace_file(entry_.name, next.text, !hurried);
    // An upgrader that was killed may have made the file without syncing its directory.
    return hurried || next.sound == AttemptsRecords().size() ? 0 : directory.sync();
  }

 private:
  [[nodiscard]] AttemptsRecords records() const {
    AttemptsRecords records;
    std::size_t offset = 0;
    for (std::string& record : records) {
      const std::string text =
          entry_.directory.read_file(entry_.name, attempts_record_bytes, offset);
      record = text.substr(0, text.find('\0'));
      offset += attempts_record_bytes;
    }
    return records;
  }

  Entry entry_;
};

}  // namespace upgrader
