// The position that the copying has reached, as a value and as a short text. The agent writes the
// text to the position file, and passes it to the next agent in the member `state` of `stopped`.
// The number in the first line is the format, so that an old version of the agent recognizes a text
// that is too new for it:
//     sample-agent position 2
//     input DEVICE INODE OFFSET
//     next SEQUENCE-NUMBER
//     output SIZE
//     mark FINGERPRINT            (format 2)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sample-agent/file.h"

namespace sample_agent {

// The newest format that this source code knows. Older versions of the agent know only older
// formats.
inline constexpr unsigned position_format_max = 2;

struct Position {
  FileId input;
  std::uint64_t offset = 0;  // the offset in the input of the first byte that is not copied yet
  std::uint64_t next = 1;    // the number of the next record
  std::uint64_t output_size = 0;

  // A fingerprint of the input's bytes just before the offset; absent in format 1. A new file may
  // get the inode of a deleted log; its fingerprint then shows that it is another file.
  std::optional<std::uint64_t> mark;

  bool operator==(const Position&) const = default;
};

struct PositionText {
  unsigned format = 1;
  Position position;
};

[[nodiscard]] std::string encode_position(const Position& position, unsigned format);

// Parses a text. Refuses a format above `known_format`, and any text that is not a position.
[[nodiscard]] Result<PositionText> decode_position(std::string_view text, unsigned known_format);

}  // namespace sample_agent
