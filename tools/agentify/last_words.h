// The last of a daemon's output, in memory that agentify and its keeper share: the keeper writes
// it, and agentify reads it at any time, also after the keeper has been killed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentify {

// A person reads it, and a file of it may lie in memory for long.
inline constexpr std::size_t last_words_bytes_max = 2'048;

class LastWords {
 public:
  // Made before the keeper is forked; both have it then, as long as they live. Null, with errno,
  // if there is no memory.
  [[nodiscard]] static LastWords* share();

  // By one process alone.
  void add(std::string_view bytes);
  // The last bytes that were added. While somebody adds, some of them may be older ones.
  [[nodiscard]] std::string text() const;
  // The last line of them that is not empty, or "".
  [[nodiscard]] std::string last_line() const;

 private:
  std::atomic<std::uint64_t> added_;
  std::atomic<char> bytes_[last_words_bytes_max];
};

// Puts the last words into the file, with mode 0600, in the place of an older one. Returns the
// fault, for people; the older file is then as it was.
[[nodiscard]] std::optional<std::string> write_last_words(const LastWords& words,
                                                          const std::string& path);

}  // namespace agentify
