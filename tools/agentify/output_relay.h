// The keeper's side of a daemon's standard output and error with --last-words: reads a pipe, keeps
// the last bytes, and passes everything on to the log. The daemon never waits for the reader of the
// log. Lines are passed on whole, so that they do not mix with lines of agentify and other
// programs.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "tools/agentify/last_words.h"

namespace agentify {

// The most bytes that are kept while the log is full. Further bytes are lost; the log then gets a
// line that says how many.
inline constexpr std::size_t waiting_bytes_max = 262'144;

class OutputRelay {
 public:
  // Makes a pipe the standard output and error of this process and of its later children. The bytes
  // that come out of the pipe are passed on to the old standard error. If that fails, changes
  // nothing, and returns false, with errno.
  [[nodiscard]] bool begin(LastWords* words);
  // The next two functions return the descriptors of the pipe and of the log, which are 3 or
  // higher, or -1 before begin().
  [[nodiscard]] int source() const { return source_.get(); }
  [[nodiscard]] int sink() const { return sink_.get(); }

  // Reads a bounded number of the daemon's bytes, and passes on as many as the log takes.
  void go_on();
  // Returns true if bytes wait that may be written to the log now. A last line without a newline is
  // not written before its newline has come.
  [[nodiscard]] bool waits() const;
  // Reads all bytes in the pipe, ends the last line, and gives the log a second to take everything.
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
  std::size_t lost_ = 0;  // the bytes lost since the log was last written to
};

}  // namespace agentify
