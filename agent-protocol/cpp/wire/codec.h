// A message as a line, and back. Knows nothing of who may send what, and when: that is decided by
// the supervisor and the session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"

namespace agent_protocol {

// A line that is no message at all: no JSON object with a string `type`, or nested too deep.
struct Stray {
  std::string reason{};  // of a line that begins with `{`, where the sender has meant a message
  bool operator==(const Stray&) const = default;
};

// A JSON object with a `type` that this direction of the protocol does not have.
struct Unknown {
  std::string type;
  bool operator==(const Unknown&) const = default;
};

// A known type whose members are not as they must be.
struct Malformed {
  std::string type;
  std::string reason;             // names the member and what is wrong with it
  std::optional<std::string> id;  // of an `upgrade` whose own `id` is well formed
  bool operator==(const Malformed&) const = default;
};

template <class Message>
using Decoded = std::variant<Message, Stray, Unknown, Malformed>;

// Takes a line without its newline, of at most line_bytes_max - 1 bytes, hostile or not. Allocates
// no more than a small multiple of the line's length.
[[nodiscard]] Decoded<AgentMessage> decode_agent_message(std::string_view line);
[[nodiscard]] Decoded<UpgraderMessage> decode_upgrader_message(std::string_view line);

// Judges the first bytes of a line that no newline has ended within line_bytes_max bytes.
[[nodiscard]] Stray without_newline(std::string_view line);

// Gives the line with its newline, or says which member is over its limit, out of its range or no
// UTF-8.
[[nodiscard]] Result<std::string> encode(const AgentMessage& message);
[[nodiscard]] Result<std::string> encode(const UpgraderMessage& message);

// The value of `type`, as on the wire.
[[nodiscard]] std::string_view type_name(const AgentMessage& message);
[[nodiscard]] std::string_view type_name(const UpgraderMessage& message);

// Gives `text` as valid UTF-8 without U+0000 (U+FFFD stands for what was not) of at most
// `bytes_max` bytes, cut between characters. For texts of ours that go into a message.
[[nodiscard]] std::string fit_text(std::string_view text, std::size_t bytes_max);

// The same, of at most `bytes_max` bytes when it is escaped, the quotes left out.
[[nodiscard]] std::string fit_escaped(std::string_view text, std::size_t bytes_max);

// Makes `activate` fit a line: of its failure the version goes first, then the end of the reason.
// Everything else always fits.
void fit_line(Activate& activate);

}  // namespace agent_protocol
