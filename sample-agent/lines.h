// The complete lines of one file, from an offset on. Knows nothing of rotation: see follower.h.
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

  // Returns the next line, without its newline; nothing if it is not complete yet, or if the file
  // was cut. The line is valid until the next call of a non-const function.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();

  // Returns true if the file was cut or overwritten since it was read. Every read compares the
  // bytes before the new ones with those that were read before; after a difference nothing more is
  // read.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

  // Returns the bytes after the last newline. Must be called only for a file that nobody writes to
  // any more, or that was cut, and only after peek() has returned nothing.
  [[nodiscard]] std::optional<std::string_view> peek_rest();

  // Goes to the line after the one that peek() has returned.
  void take();

  // Goes back to the beginning of the file, with its present content.
  void start_again();

  // Returns the offset in the file of the first byte that take() has not passed.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] File&& release_file() && { return std::move(file_); }

  // Returns a fingerprint of the bytes just before the offset. If reading began in the middle of
  // the file, read_back() must be called first, since those bytes have not been read.
  [[nodiscard]] std::uint64_t mark() const;
  [[nodiscard]] Outcome read_back();

 private:
  [[nodiscard]] std::string_view unread() const;
  [[nodiscard]] Result<bool> read_more();

  File file_;
  std::uint64_t offset_;
  std::size_t bytes_max_;
  std::string buffer_;  // the last bytes that were read from the file
  // The place in buffer_ of the first byte that was not taken. Bytes before it are kept for
  // comparison.
  std::size_t begin_ = 0;
  std::size_t shown_ = 0;   // the number of bytes that peek() returned last; take() skips them
  std::size_t looked_ = 0;  // the number of bytes after begin_ that are known to have no newline
  bool was_cut_ = false;
};

}  // namespace sample_agent
