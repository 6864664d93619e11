// The log: one line for each event, on standard error. A full or slow log loses lines, but never
// delays the service: nothing here blocks, and lost lines are counted and reported later.
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

// The most bytes of a line; a longer line is cut. This is at most PIPE_BUF, because a pipe accepts
// a write of at most PIPE_BUF bytes whole or not at all.
inline constexpr std::size_t log_line_bytes_max = 4'096;

// The most bytes that the log shows of a line that an agent has written to its standard output, and
// that is not a message.
inline constexpr std::size_t stray_bytes_max = 200;

class Logbook {
 public:
  // Shows lines of `level` and above. `journal_stream` is the value of JOURNAL_STREAM, or null; if
  // it names `descriptor`, each line begins with a priority for the journal. The descriptor is
  // neither closed nor changed. SIGPIPE must be ignored. The lock must exist before the first line
  // is written: that write may open a descriptor, which must not get the lock's number.
  explicit Logbook(LogLevel level, const char* journal_stream, int descriptor = 2);

  void error(std::string_view text) { write(LogLevel::error, text); }
  void warning(std::string_view text) { write(LogLevel::warning, text); }
  void info(std::string_view text) { write(LogLevel::info, text); }
  void debug(std::string_view text) { write(LogLevel::debug, text); }
  void write(LogLevel level, std::string_view text);

  [[nodiscard]] bool shows(LogLevel level) const { return level <= level_; }

  // Returns the number of lines lost since the last line that reported a loss.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  [[nodiscard]] std::string line(LogLevel level, std::string_view text) const;
  [[nodiscard]] bool deliver(const std::string& line);
  [[nodiscard]] std::size_t put(std::string_view bytes);

  LogLevel level_;
  int descriptor_;
  bool journal_ = false;
  mode_t mode_ = 0;  // the stream's file type, as in st_mode
  // The log's own descriptor for standard error, on which O_NONBLOCK can be set, because no other
  // process shares it. It is opened with the first line, if standard error is a pipe or a character
  // device that can be opened a second time.
  OwnedFd own_;
  std::string tail_;  // the rest of a line that was written in part
  std::uint64_t lost_ = 0;
};

}  // namespace upgrader
