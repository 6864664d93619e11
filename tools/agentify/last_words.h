// Holds the last bytes of a daemon's output in memory that agentify and its keeper share: the
// keeper writes it, and agentify can read it at any time, even after the keeper has been killed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentify {

// The most bytes that are kept. People hardly read more, and the file with them may be kept in
// memory.
inline constexpr std::size_t last_words_bytes_max = 2'048;

class LastWords {
 public:
  // Makes the shared memory. Must be called before the keeper is forked; both processes then have
  // it for as long as they live. Returns null, with errno, if there is no memory.
  [[nodiscard]] static LastWords* share();

  // Adds bytes of the output. Only one process may call this function.
  void add(std::string_view bytes);
  // Returns the last bytes that were added. If another process adds bytes at the same moment, a few
  // bytes of the result may be older.
  [[nodiscard]] std::string text() const;
  // Returns the last line that is not empty, or "".
  [[nodiscard]] std::string last_line() const;

 private:
  std::atomic<std::uint64_t> added_;
  std::atomic<char> bytes_[last_words_bytes_max];
};

// Writes the last words to the file, with mode 0600, and replaces an older one. Returns the fault,
// for people; the older file is then unchanged.
[[nodiscard]] std::optional<std::string> write_last_words(const LastWords& words,
                                                          const std::string& path);

}  // namespace agentify
