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

// The longest line. A longer line is returned in pieces of this size, each like a line, so that
// memory stays bounded and no byte is lost.
inline constexpr std::size_t line_bytes_max = 1'048'576;

class Lines {
 public:
  Lines(File file, std::uint64_t offset, std::size_t bytes_max = line_bytes_max);

  // Returns the next line, without its newline; nothing if it is not complete yet, or if the file
  // was cut. The line is valid until the next call of a non-const function.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();

  // Returns true if the file was cut or overwritten since it was read. Every read compares the
  // bytes before the new ones; once they differ, nothing more is read.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

  // Returns the bytes after the last newline. Only for a file that nobody writes to any more, or
  // that was cut, and only after peek() has found nothing.
  [[nodiscard]] std::optional<std::string_view> peek_rest();

  // Goes to the line after the one that peek() has returned.
  void take();

  // Goes back to the beginning of the file, with its present content.
  void start_again();

  // Returns the offset of the first byte that take() has not passed.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] File&& release_file() && { return std::move(file_); }

  // Returns a fingerprint of the bytes just before the offset. If reading began in the middle of
  // the file, the bytes before that place have not been read: read_back() must be called first.
  [[nodiscard]] std::uint64_t mark() const;
  [[nodiscard]] Outcome read_back();

 private:
  [[nodiscard]] std::string_view unread() const;
  [[nodiscard]] Result<bool> read_more();

  File file_;
  std::uint64_t offset_;
  std::size_t bytes_max_;
  std::string buffer_;  // the last bytes that were read from the file
  // The first byte not taken yet; the bytes before it are kept, to be compared.
  std::size_t begin_ = 0;
  std::size_t shown_ = 0;   // the bytes that peek() returned last; take() skips them
  std::size_t looked_ = 0;  // the bytes after begin_ that are known to have no newline
  bool was_cut_ = false;
};

}  // namespace sample_agent
