// The control directory of an upgrader, as other programs use it: the class reads the files of the
// directory, and writes requests to its FIFO. No function here ever waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/control/last_words.h"
#include "agent-protocol/cpp/control/look.h"
#include "base/owned_fd.h"

namespace upgraderctl {

// The content of status.json or previous.json, or why it could not be read.
struct StatusFile {
  std::string text;              // the content of the file, empty if it cannot be read
  std::optional<Status> status;  // the parsed content; absent if the file cannot be read
  int error_number = 0;
  std::string trouble;  // the reason, in words, if the file cannot be read
};

struct Sight {
  StatusFile file;
  Hearing hearing = Hearing::unknown;
};

class ControlDirectory {
 public:
  explicit ControlDirectory(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] StatusFile status() const { return read("status.json"); }
  [[nodiscard]] StatusFile previous() const { return read("previous.json"); }

  // Returns the last bytes (2 KiB at most) of the file `last-words`. Returns nothing if there is no
  // such file or it cannot be read.
  [[nodiscard]] std::optional<LastWords> last_words() const;

  // Reads status.json as see() does, and then previous.json. In this order, the newest status is
  // not missed if a new upgrader renames status.json to previous.json between the two reads.
  [[nodiscard]] Look look() const;

  // Opens the FIFO for writing to the upgrader that runs now. Returns 0 or an errno value: ENXIO or
  // ENOENT if no upgrader takes requests.
  int open();
  void close() { fifo_.reset(); }

  // Returns true if the FIFO that open() has opened has no reader any more.
  [[nodiscard]] bool reader_gone() const;

  // Writes the whole line, or nothing of it.
  [[nodiscard]] WriteOutcome write(std::string_view line) const;

  // Finds out whether the upgrader takes requests, and reads status.json. Looks at the FIFO first,
  // then at status.json. Works without an earlier open().
  [[nodiscard]] Sight see() const;

 private:
  [[nodiscard]] StatusFile read(const std::string& name) const;

  std::string path_;
  upgrader::OwnedFd fifo_;
};

// Returns the peak memory of a process in KiB, if /proc shows it.
[[nodiscard]] std::optional<std::int64_t> peak_memory_kib(std::int64_t pid);

}  // namespace upgraderctl
