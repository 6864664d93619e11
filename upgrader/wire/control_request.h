// The requests that an operator makes through the control directory, as plain data, and the parser
// for a line of the directory's FIFO. The chronicle and the supervisor decide the answer. The
// section CONTROL DIRECTORY of upgrader(8) describes the requests.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent-protocol/cpp/wire/message.h"

namespace upgrader {

// The most bytes of a line, with its newline (PIPE_BUF). A FIFO takes a write of at most this size
// whole or not at all, so the lines of several writers never mix.
inline constexpr std::size_t control_line_bytes_max = 4'096;

enum class Deed { upgrade, confirm, cancel, commit, rollback, shutdown };
using agent_protocol::name_of;

struct ControlRequest {
  Deed deed = Deed::shutdown;
  std::string name;  // chosen by the writer of the line; status.json has the answer under this name
  // For an upgrade: the same request as an agent would send. An empty id is replaced by one that
  // the upgrader makes; an empty executable means the file that AGENT names now. For a confirm,
  // cancel, commit or rollback, only the id is used. A shutdown uses no member.
  agent_protocol::Upgrade upgrade;
  std::optional<std::string> reason;  // the operator's reason for a cancel or a rollback
  bool operator==(const ControlRequest&) const = default;
};

// A request with a well-formed name, but of an unknown type or with a malformed member. status.json
// has the answer under the name of the request.
struct ControlRefused {
  std::string name;
  std::string type;    // the request's type, cut to agent_protocol::about_bytes_max
  std::string reason;  // the name of the malformed member, and what is wrong with it
  bool operator==(const ControlRefused&) const = default;
};

// A line that cannot be answered, because it is not a JSON object with a text as its `type`, or has
// no valid name in its member `request`. The reason is for the log.
struct ControlStray {
  std::string reason;
};

using ControlLine = std::variant<ControlRequest, ControlRefused, ControlStray>;

// Reads a line without its newline, which may contain any bytes. Allocates no more than a small
// multiple of the line's length.
[[nodiscard]] ControlLine decode_control_line(std::string_view line);

}  // namespace upgrader

template <>
inline constexpr std::array<std::string_view, 6> agent_protocol::names_of<upgrader::Deed>{
    "upgrade", "confirm", "cancel", "commit", "rollback", "shutdown"};
