// An operator's requests by the control directory, as plain data, and how a line of its FIFO is
// read. The control desk and the supervisor decide the answer. The contract is
// upgrader(8), CONTROL DIRECTORY.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent-protocol/cpp/wire/message.h"

namespace upgrader {

// With its newline: what one write(2) puts into a FIFO in one piece (PIPE_BUF).
inline constexpr std::size_t control_line_bytes_max = 4'096;

enum class Deed { upgrade, confirm, cancel, commit, rollback, shutdown };
[[nodiscard]] std::string_view name_of(Deed deed);

struct ControlRequest {
  Deed deed = Deed::shutdown;
  std::string name;  // that its writer chose: the answer stands under it
  // Of an upgrade: what an agent would ask for. An empty id: the upgrader gives it one. An empty
  // executable: what AGENT on the command line names now. Of all others but a shutdown its id only.
  agent_protocol::Upgrade upgrade;
  std::optional<std::string> reason;  // of a cancel or a rollback
  bool operator==(const ControlRequest&) const = default;
};

// A request with a well-formed name, but of an unknown type or with a malformed member. It is
// answered under its name.
struct ControlRefused {
  std::string name;
  std::string type;    // cut to agent_protocol::about_bytes_max
  std::string reason;  // names the member and what is wrong with it
  bool operator==(const ControlRefused&) const = default;
};

// A line that can be answered to nobody: no JSON object with a text as its `type`, or one without
// a name. The reason is for the log.
struct ControlStray {
  std::string reason;
  bool operator==(const ControlStray&) const = default;
};

using ControlLine = std::variant<ControlRequest, ControlRefused, ControlStray>;

// Takes a line without its newline, hostile or not. Allocates no more than a small multiple of the
// line's length.
[[nodiscard]] ControlLine decode_control_line(std::string_view line);

}  // namespace upgrader
