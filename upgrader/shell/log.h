// The log: one line an event, on standard error. A full or slow log costs log lines, never service:
// nothing here blocks, and what could not be written is counted and told later.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/visible.h"
#include "upgrader/core/log_level.h"

namespace upgrader {

// A longer line is cut: so much goes into a pipe whole or not at all (PIPE_BUF).
inline constexpr std::size_t log_line_bytes_max = 4'096;

// Of stray output so much is shown.
inline constexpr std::size_t stray_bytes_max = 200;

class Logbook {
 public:
  // Lines of `level` and louder are shown. `journal_stream` is the value of JOURNAL_STREAM, or
  // null; if it names `descriptor`, lines begin with the journal's priorities. The descriptor stays
  // its owner's, and so do its flags, which others share. SIGPIPE must be ignored, and before the
  // first line the lock must have its number: a descriptor of our own may be opened for it.
  explicit Logbook(LogLevel level, const char* journal_stream, int descriptor = 2);

  void error(std::string_view text) { write(LogLevel::error, text); }
  void warning(std::string_view text) { write(LogLevel::warning, text); }
  void info(std::string_view text) { write(LogLevel::info, text); }
  void debug(std::string_view text) { write(LogLevel::debug, text); }
  void write(LogLevel level, std::string_view text);

  [[nodiscard]] bool shows(LogLevel level) const { return level <= level_; }

  // Lines lost since the loss was last told.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  [[nodiscard]] std::string line(LogLevel level, std::string_view text) const;
  [[nodiscard]] bool deliver(const std::string& line);
  [[nodiscard]] std::size_t put(std::string_view bytes);

  LogLevel level_;
  int descriptor_;
  bool journal_ = false;
  mode_t mode_ = 0;  // what kind of stream it is
  OwnedFd own_;      // the same pipe or terminal, opened anew for the first line, where that can be
  std::string tail_;  // of a line that was taken in part
  std::uint64_t lost_ = 0;
};

}  // namespace upgrader
