// One control directory: its files are read, and its FIFO is written to. Nothing here ever waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/control/look.h"
#include "base/owned_fd.h"

namespace upgraderctl {

// One of its files, as far as it could be read.
struct StatusFile {
  std::string text;              // as it is
  std::optional<Status> status;  // if it could be read
  int error_number = 0;
  std::string trouble;  // why it could not
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

  // status.json, as see() has it, before previous.json: where a new life of the upgrader has made
  // the one into the other between the two looks, both say the same, and nothing is missed.
  [[nodiscard]] Look look() const;

  // Opens the FIFO for writing, which leads to one life of the upgrader. Answers 0 or an errno:
  // ENXIO and ENOENT where none takes requests.
  int open();
  void close() { fifo_.reset(); }

  // Whether the FIFO that was opened has lost its reader.
  [[nodiscard]] bool reader_gone() const;

  // The line goes in whole, or not at all.
  [[nodiscard]] WriteOutcome write(std::string_view line) const;

  // The FIFO first, then status.json. Leaves alone what open() has opened.
  [[nodiscard]] Sight see() const;

 private:
  [[nodiscard]] StatusFile read(const std::string& name) const;

  std::string path_;
  upgrader::OwnedFd fifo_;
};

// The peak memory of a process in KiB, if /proc tells.
[[nodiscard]] std::optional<std::int64_t> peak_memory_kib(std::int64_t pid);

}  // namespace upgraderctl
