// The whole lines of one file, from an offset on, as far as they have been written. Knows nothing
// of other files: see follower.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sample-agent/file.h"

namespace sample_agent {

// A longer line is taken in pieces of this size, each as a line of its own: whatever somebody
// writes, memory stays bounded and no byte is lost.
inline constexpr std::size_t line_bytes_max = 1'048'576;

class Lines {
 public:
  Lines(File file, std::uint64_t offset, std::size_t bytes_max = line_bytes_max);

  // The next line, without its newline; nothing if it is not whole yet. It holds until the next
  // call of a function that is not const.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();

  // What stands after the last newline: only for a file that nobody writes to any more. To be
  // called after peek() has found nothing.
  [[nodiscard]] std::optional<std::string_view> peek_rest();

  // Goes past what was shown last.
  void take();

  // Of the first byte that has not been taken.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const File& file() const { return file_; }

 private:
  [[nodiscard]] std::string_view unread() const;
  [[nodiscard]] Result<bool> read_more();

  File file_;
  std::uint64_t offset_;
  std::size_t bytes_max_;
  std::string buffer_;      // bytes of the file that end where reading goes on
  std::size_t begin_ = 0;   // of what has not been taken
  std::size_t shown_ = 0;   // bytes that take() goes past
  std::size_t looked_ = 0;  // bytes of what has not been taken that hold no newline
};

}  // namespace sample_agent
