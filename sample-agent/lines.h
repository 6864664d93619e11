// Reads the complete lines of one file, from a given offset on. Knows nothing of log rotation,
// which follower.h handles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sample-agent/file.h"

namespace sample_agent {

// The longest line. A longer line is returned in pieces of this size, as if each piece were a line,
// so that memory stays bounded and no byte is lost.
inline constexpr std::size_t line_bytes_max = 1'048'576;

class Lines {
 public:
  Lines(File file, std::uint64_t offset, std::size_t bytes_max = line_bytes_max);

  // Returns the next line, without its newline. Returns nothing if the line is not complete yet, or
  // if the file was truncated. The line is valid until the next call of a non-const function.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();

  // Returns true if the file was truncated or overwritten since it was read: the bytes just before
  // the new ones have changed. Nothing more is then read from the file.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

  // Returns the bytes after the last newline. Must be called only after peek() has returned
  // nothing, and only if the file was truncated or nobody writes to it any more.
  [[nodiscard]] std::optional<std::string_view> peek_rest();

  // Skips the line that peek() has returned.
  void take();

  // Starts again at the beginning of the file, and drops the bytes that were read.
  void start_again();

  // Returns the offset in the file at which the next line begins: the one after the line that
  // take() has skipped last.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] File&& release_file() && { return std::move(file_); }

  // Returns a fingerprint of the bytes just before the offset. If the object was made with an
  // offset other than 0, read_back() must be called first, to read these bytes.
  [[nodiscard]] std::uint64_t mark() const;
  [[nodiscard]] Outcome read_back();

 private:
  [[nodiscard]] std::string_view unread() const;
  [[nodiscard]] Result<bool> read_more();

  File file_;
  std::uint64_t offset_;
  std::size_t bytes_max_;
  std::string buffer_;  // the last bytes that were read from the file
  // The index in buffer_ at which the next line begins. Some bytes before it are kept, so that the
  // next read can compare them with the file.
  std::size_t begin_ = 0;
  std::size_t shown_ = 0;   // length of the text that peek() returned last; take() skips it
  std::size_t looked_ = 0;  // how many bytes from begin_ on are known to have no newline
  bool was_cut_ = false;
};

}  // namespace sample_agent
