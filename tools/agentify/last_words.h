// The last words of a daemon (--last-words). The keeper reads the daemon's standard output and
// error from a pipe, keeps the last bytes, and passes everything on to the log. The bytes are kept
// in memory that agentify shares with its keeper, so that agentify can read them at any time, even
// when the keeper has been killed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace agentify {

// The most bytes that LastWords keeps. People rarely read more, and the file of last words may be
// on a file system in memory.
inline constexpr std::uint32_t last_words_bytes_max = 2'048;

// Holds the last bytes of a daemon's output, in memory that two processes share. The keeper adds
// bytes, and agentify reads them.
class LastWords {
 public:
  // Makes the shared memory. Must be called before the keeper is forked. The memory lasts as long
  // as one of the two processes lives. On failure returns null and sets errno.
  [[nodiscard]] static LastWords* share();

  // Adds bytes of the output. Must be called by one process only.
  void add(std::string_view bytes);
  // Returns the last bytes that were added. If bytes are being added at the same moment, a few
  // bytes of the result may be older ones.
  [[nodiscard]] std::string text() const;
  // Returns the last line that is not empty, or "".
  [[nodiscard]] std::string last_line() const;

 private:
  // The number of bytes that were added, but less than twice last_words_bytes_max: at that number,
  // the counter goes back to last_words_bytes_max. So it always says at which byte the ring ends,
  // and whether the ring is full.
  std::atomic<std::uint32_t> end_;
  std::atomic<char> bytes_[last_words_bytes_max];
};

// Writes the last words to a file with mode 0600, which replaces an older file at `path`. On
// failure returns the reason in words, and leaves the older file unchanged.
[[nodiscard]] std::optional<std::string> write_last_words(const LastWords& words,
                                                          const std::string& path);

// The most bytes of the output that wait for room in the log. Further bytes are lost. Then the log
// gets a line with their number.
inline constexpr std::size_t waiting_bytes_max = 262'144;

// Reads the daemon's output from a pipe, and passes it on to the log. The daemon never waits for
// the reader of the log. Whole lines are passed on, so that they do not mix with lines of agentify
// or of other programs.
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
