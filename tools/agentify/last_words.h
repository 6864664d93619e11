// Holds the last bytes of a daemon's output, in memory that agentify shares with its keeper. The
// keeper writes the memory. agentify can read it at any time, even when the keeper has been killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentify {

// The most bytes that are kept. People rarely read more, and the file of last words may be on a
// file system in memory.
inline constexpr std::uint32_t last_words_bytes_max = 2'048;

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

}  // namespace agentify
