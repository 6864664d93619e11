// The keeper's side of a daemon's standard output and error with --last-words: a pipe, of which the
// last words are kept and all is passed on. The daemon never waits for whoever reads the log. Lines
// are passed on whole, so that agentify's own lines, and other programs', stand between them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "tools/agentify/last_words.h"

namespace agentify {

// Kept for a log that takes nothing at the moment. More is lost, and the log is told how much.
inline constexpr std::size_t waiting_bytes_max = 262'144;

class OutputRelay {
 public:
  // Puts the pipe in the place of descriptors 1 and 2 of this process, which its children get;
  // passes on to the old descriptor 2. False, with errno: all is as it was.
  [[nodiscard]] bool begin(LastWords* words);
  // Of descriptors from 3 on; -1 before begin().
  [[nodiscard]] int source() const { return source_.get(); }
  [[nodiscard]] int sink() const { return sink_.get(); }

  // Takes what the daemon has written, a bounded number of bytes, and passes on what it can.
  void go_on();
  // True if bytes wait for the log. A line that has no end yet waits for its end instead.
  [[nodiscard]] bool waits() const;
  // Takes all that is in the pipe, ends the last line, and gives the log a second for all of it.
  void finish();

 private:
  [[nodiscard]] bool take();
  void keep(std::string_view bytes);
  void pass_on();

  upgrader::OwnedFd source_;
  upgrader::OwnedFd sink_;
  mode_t sink_mode_ = 0;
  LastWords* words_ = nullptr;
  std::string waiting_;
  std::size_t lost_ = 0;  // since the log took anything
};

}  // namespace agentify
