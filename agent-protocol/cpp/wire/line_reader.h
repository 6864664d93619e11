// The reader that cuts a stream into lines. It holds at most the bytes of one line, and skips the
// rest of a line that is too long. It does not interpret lines: see codec.h.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// The most bytes that are kept of a line that is too long or unfinished, for the log.
inline constexpr std::size_t incomplete_bytes_max = 200;

struct Line {
  std::string_view text;  // the line without its newline; if it is incomplete, its first bytes
  bool complete = true;   // false if the line was too long, or the stream ended within the line
};

class LineReader {
 public:
  // `bytes_max` is the length of the longest complete line, in bytes, with its newline.
  explicit LineReader(std::size_t bytes_max = line_bytes_max) : size_(bytes_max) {}

  // Returns the space for the next bytes, which is never empty after next() has returned nullopt.
  // After the caller has put N bytes into this space, it must call written(N).
  [[nodiscard]] std::span<char> space();
  void written(std::size_t count);

  // Returns the next whole line, or nullopt when more bytes are needed. The text of the line is
  // valid until the next call of any function of the reader.
  [[nodiscard]] std::optional<Line> next();

  // Returns the unfinished line at the end of the stream, if there is one. Must be called after
  // next() has returned nullopt.
  [[nodiscard]] std::optional<Line> rest();

  // Returns true if next() may return a line from the bytes that the reader already has.
  [[nodiscard]] bool pending() const { return searched_ < end_; }

 private:
  // Makes room: discards the current line, which is too long or unfinished, except its first
  // `incomplete_bytes_max` bytes.
  void skip_what_is_there();

  std::size_t size_;
  std::unique_ptr<char[]> buffer_;  // allocated when the first bytes arrive
  std::size_t begin_ = 0;           // the index of the first byte that next() has not returned
  std::size_t end_ = 0;             // the index after the last byte that was written
  std::size_t searched_ = 0;        // the bytes before this index have been searched for a newline
  bool skipping_ = false;           // the current line is too long, and its rest is skipped
  std::string skipped_prefix_;      // the first bytes of a line that is too long, for the log
};

}  // namespace agent_protocol
