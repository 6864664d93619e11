// The codec turns messages into lines, and lines into messages. The supervisor and the session
// decide who may send which message, and when.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"

namespace agent_protocol {

// A line that is not a message: not a JSON object with a string `type`, or nested too deep.
struct Stray {
  // Why the line is not a message. Set only if the line begins with `{`, since the agent then
  // probably meant it as a message.
  std::string reason{};
  bool operator==(const Stray&) const = default;
};

// A JSON object whose `type` is not the type of any message in this direction (from an agent, or to
// an agent).
struct Unknown {
  std::string type;
  bool operator==(const Unknown&) const = default;
};

// A message of a known type that has an invalid member.
struct Malformed {
  std::string type;
  std::string reason;  // the name of the malformed member, and what is wrong with it
  // The id of a malformed `upgrade`, for the reply to the agent; absent if the id itself is
  // malformed.
  std::optional<std::string> id;
  bool operator==(const Malformed&) const = default;
};

template <class Message>
using Decoded = std::variant<Message, Stray, Unknown, Malformed>;

// Reads a line without its newline, of at most line_bytes_max - 1 bytes; any bytes are accepted.
// Allocates no more than a small multiple of the line's length.
[[nodiscard]] Decoded<AgentMessage> decode_agent_message(std::string_view line);
[[nodiscard]] Decoded<UpgraderMessage> decode_upgrader_message(std::string_view line);

// Returns the Stray for a line that has no newline within line_bytes_max bytes: such a line is
// never a message. `line` is the beginning of that line.
[[nodiscard]] Stray without_newline(std::string_view line);

// Returns the line with its newline. Returns a refusal if a member is too long, out of its range or
// not UTF-8.
[[nodiscard]] Result<std::string> encode(const AgentMessage& message);
[[nodiscard]] Result<std::string> encode(const UpgraderMessage& message);

// Returns the type of the message: the value of the member `type` in the message's JSON.
template <class... Messages>
[[nodiscard]] std::string_view type_name(const std::variant<Messages...>& message) {
  return std::visit([](const auto& alternative) { return alternative.type; }, message);
}

// Shortens `activate` until it fits a line: first leaves out the version in its failure, and then
// cuts the reason in its failure. An `activate` without this version and reason always fits a line.
void fit_line(Activate& activate);

}  // namespace agent_protocol
