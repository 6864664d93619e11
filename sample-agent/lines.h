// The complete lines of one file, from an offset on, as far as they have been written. Knows only
// this file: see follower.h for rotation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sample-agent/file.h"

namespace sample_agent {

// The longest line. A longer one is returned in pieces of this size, each as a line of its own:
// memory stays bounded and no byte is lost.
inline constexpr std::size_t line_bytes_max = 1'048'576;

class Lines {
 public:
  Lines(File file, std::uint64_t offset, std::size_t bytes_max = line_bytes_max);

  // Returns the next line, without its newline; nothing if it is not complete yet, or if the file
  // was cut. The line is valid until the next call of a non-const function.
  [[nodiscard]] Result<std::optional<std::string_view>> peek();

  // Returns true if the file was cut or overwritten since it was read. Every read compares the
  // bytes before the new ones, and nothing more is read once they differ.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

  // Returns the bytes after the last newline. Only for a file that nobody writes to any more, or
  // that was cut, and only after peek() has found nothing.
  [[nodiscard]] std::optional<std::string_view> peek_rest();

  // Goes past the line that was returned last.
  void take();

  // Goes back to the beginning of the file, with its present content.
  void start_again();

  // Returns the offset of the first byte that has not been taken.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] File&& release_file() && { return std::move(file_); }

  // Returns a fingerprint of the bytes before the offset, as they were when they were read. The
  // bytes before the offset at which reading began have not been read: if that offset is not 0,
  // read_back() must be called first to read them.
  [[nodiscard]] std::uint64_t mark() const;
  [[nodiscard]] Outcome read_back();

 private:
  [[nodiscard]] std::string_view unread() const;
  [[nodiscard]] Result<bool> read_more();

  File file_;
  std::uint64_t offset_;
  std::size_t bytes_max_;
  std::string buffer_;      // the last bytes that were read from the file
  std::size_t begin_ = 0;   // the first byte not taken; those before it identify the file
  std::size_t shown_ = 0;   // the bytes that take() will skip
  std::size_t looked_ = 0;  // bytes after begin_ that have no newline
  bool was_cut_ = false;
};

}  // namespace sample_agent
