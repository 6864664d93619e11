// With --last-words, the keeper reads the daemon's standard output and error from a pipe. It keeps
// the last bytes, and passes everything on to the log. The daemon never waits for the reader of the
// log. Whole lines are passed on, so that they do not mix with lines of agentify or of other
// programs.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "tools/agentify/last_words.h"

namespace agentify {

// The most bytes that are kept while the log is full. Further bytes are lost. Then the log gets a
// line with their number.
inline constexpr std::size_t waiting_bytes_max = 262'144;

class OutputRelay {
 public:
  // Makes a pipe, which becomes the standard output and error of this process and of its later
  // children. Passes all bytes from the pipe on to the former standard error. On failure changes
  // nothing, returns false and sets errno.
  [[nodiscard]] bool begin(LastWords* words);
  // The next two functions return the reading end of the pipe, and the descriptor of the log. Both
  // are -1 before begin(), and at least 3 afterwards.
  [[nodiscard]] int source() const { return source_.get(); }
  [[nodiscard]] int sink() const { return sink_.get(); }

  // Reads a limited number of bytes of the daemon. Passes on as many bytes as the log has room for.
  void go_on();
  // Returns true if there are bytes that can be passed on to the log. An incomplete last line does
  // not count: it is passed on when its newline has come.
  [[nodiscard]] bool waits() const;
  // Reads all bytes that are left in the pipe, and ends the last line with a newline. Waits for at
  // most a second until the log has room for everything.
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
  std::size_t lost_ = 0;  // how many bytes were lost since the last write to the log
};

}  // namespace agentify
