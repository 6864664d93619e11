// Cuts a stream into lines. Bounded: holds at most one line's worth of bytes, and skips a longer
// line to its newline. Knows nothing of what is in a line: see codec.h.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// So much of a line that is over-long or cut off is kept: it goes to the log, not to anyone's code.
inline constexpr std::size_t incomplete_bytes_max = 200;

struct Line {
  std::string_view text;  // without its newline; of an incomplete one its first bytes only
  bool complete = true;   // false: it was over-long, or cut off by the end of the stream
};

class LineReader {
 public:
  explicit LineReader(std::size_t bytes_max = line_bytes_max);  // of a line with its newline

  // The space for the next bytes: never empty once next() has returned nullopt. Call written() with
  // the number of bytes that were written there.
  [[nodiscard]] std::span<char> space();
  void written(std::size_t count);

  // The next whole line, or nullopt when more bytes are needed. Its text is valid until the next
  // call of any member.
  [[nodiscard]] std::optional<Line> next();

  // At the end of the stream, after next() has answered nullopt: what is left, if anything is.
  [[nodiscard]] std::optional<Line> rest();

  // True if next() may have something without new bytes.
  [[nodiscard]] bool pending() const;

 private:
  // Discards the line under way but for its first incomplete_bytes_max bytes, to make room.
  void skip_what_is_there();

  std::size_t size_;
  std::unique_ptr<char[]> buffer_;  // of that size, once anything is to be written to it
  std::size_t begin_ = 0;           // the first byte that no line has taken
  std::size_t end_ = 0;             // behind the last byte written
  std::size_t searched_ = 0;        // up to here there is no newline
  bool skipping_ = false;           // the line under way is over-long
  std::string skipped_prefix_;      // its first bytes, for the log
};

}  // namespace agent_protocol
