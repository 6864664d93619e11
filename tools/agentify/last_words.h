// The last words of a daemon: the end of its output, which shows why the daemon has failed
// (--last-words). The keeper, the daemon's parent process, reads the daemon's standard output and
// error from a pipe, keeps the last bytes, and passes all bytes on to the log. The last bytes are
// kept in memory that agentify shares with its keeper, so that agentify can read them at any time,
// even after the keeper has been killed.
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

// The most bytes that LastWords keeps. People rarely read more, and the file with the last words
// may be on a file system in memory, such as /run.
inline constexpr std::uint32_t last_words_bytes_max = 2'048;

// Holds the last bytes of a daemon's output, in memory that two processes share. The keeper, the
// daemon's parent process, adds bytes, and agentify reads them.
class LastWords {
 public:
  // Makes the shared memory. Must be called before agentify forks the keeper, the daemon's parent
  // process. The memory exists until agentify and the keeper have both exited. On failure returns
  // null and sets errno.
  [[nodiscard]] static LastWords* share();

  // Adds bytes of the output. Must be called by one process only.
  void add(std::string_view bytes);
  // Returns the last bytes that were added. If the keeper (the daemon's parent process) is adding
  // bytes at this moment, the result may begin with some of these new bytes in place of the oldest
  // bytes.
  [[nodiscard]] std::string text() const;
  // Returns the last line that is not empty, or "" if there is none.
  [[nodiscard]] std::string last_line() const;

 private:
  // Counts the bytes that were added to the ring buffer `bytes_`. The next byte is written at the
  // index `end_ % SIZE`, with SIZE for last_words_bytes_max. The ring is full if the counter is at
  // least SIZE. At 2 * SIZE, the counter goes back to SIZE, so that it cannot overflow.
  std::atomic<std::uint32_t> end_;
  std::atomic<char> bytes_[last_words_bytes_max];
};

// Writes the last words to a file with mode 0600, which atomically replaces an older file at
// `path`. On failure returns the reason in words, and leaves the older file unchanged.
[[nodiscard]] std::optional<std::string> write_last_words(const LastWords& words,
                                                          const std::string& path);

// The most bytes of output that wait for room in the log. More bytes are dropped, and a line in the
// log then says how many.
inline constexpr std::size_t waiting_bytes_max = 262'144;

// Reads the daemon's output from a pipe, and writes this output to the log. A slow reader of the
// log never makes the daemon wait. Whole lines are written, so that lines of the daemon do not mix
// with lines of agentify or of other programs.
class OutputRelay {
 public:
  // Makes a pipe, which becomes the standard output and error of this process and of its later
  // children. The bytes from the pipe go to the descriptor that was standard error before: the log.
  // On failure changes nothing, returns false and sets errno.
  [[nodiscard]] bool begin(LastWords* words);
  // The next two functions return the reading end of the pipe, and the descriptor of the log. Both
  // descriptors are -1 before begin(), and at least 3 afterwards.
  [[nodiscard]] int source() const { return source_.get(); }
  [[nodiscard]] int sink() const { return sink_.get(); }

  // Reads a limited number of bytes from the pipe, and writes as many bytes to the log as it has
  // room for.
  void go_on();
  // Returns true if bytes are waiting to be written to the log. Ignores an incomplete last line,
  // because it is written only after its newline has come.
  [[nodiscard]] bool waits() const;
  // Reads the bytes that are left in the pipe, adds a newline to an incomplete last line, and
  // writes all of them to the log. If the log is full, waits for at most a second until it has
  // room.
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
