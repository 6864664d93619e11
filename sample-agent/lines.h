// The whole lines of one file, from an offset on, as far as they have been written. Knows nothing
// of other files: see follower.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sample-agent/file.h"

namespace sample_agent {

// A longer line is taken in pieces of this size, each as a line of its own: whatever somebody
// writes, memory stays bounded and no byte is lost.
inline constexpr std::size_t line_bytes_max = 1'048'576;

class Lines {
 public:
  Lines(File file, std::uint64_t offset, std::size_t bytes_max = line_bytes_max);

  // The next line, without its newline; nothing if it is not whole yet, or if the file was cut. It
  // holds until the next call of a function that is not const.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();

  // Whether the file was cut or written anew under us: every read looks again at the bytes before
  // the new ones, and nothing more is read once these are others.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

  // The bytes after the last newline: only for a file that nobody writes to any more, or that
  // was cut. To be called after peek() has found nothing.
  [[nodiscard]] std::optional<std::string_view> peek_rest();

  // Goes past what was shown last.
  void take();

  // Goes back to the beginning of the file, whatever that is now.
  void start_again();

  // Of the first byte that has not been taken.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] File&& release_file() && { return std::move(file_); }

  // A fingerprint of the bytes before the offset, as they were when they were read. Those before
  // the offset at which reading began have not been read: read_back() does that, where there is
  // such an offset, before anything else.
  [[nodiscard]] std::uint64_t mark() const;
  [[nodiscard]] Outcome read_back();

 private:
  [[nodiscard]] std::string_view unread() const;
  [[nodiscard]] Result<bool> read_more();

  File file_;
  std::uint64_t offset_;
  std::size_t bytes_max_;
  std::string buffer_;      // bytes of the file that end where reading goes on
  std::size_t begin_ = 0;   // of what has not been taken; before that, bytes to know the file by
  std::size_t shown_ = 0;   // bytes that take() goes past
  std::size_t looked_ = 0;  // bytes of what has not been taken that hold no newline
  bool was_cut_ = false;
};

}  // namespace sample_agent
