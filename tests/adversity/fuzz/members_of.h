// Lists the members of a decoded message as the second decoder shows them. Written from message.h;
// shares no code with the archives.
#pragma once

#include "agent-protocol/cpp/wire/message.h"
#include "tests/adversity/fuzz/second_decoder.h"

namespace fuzz {

[[nodiscard]] Members members_of(const agent_protocol::AgentMessage& message);
[[nodiscard]] Members members_of(const agent_protocol::UpgraderMessage& message);

// Returns the `type` that the message has on the wire.
[[nodiscard]] std::string type_of(const agent_protocol::AgentMessage& message);
[[nodiscard]] std::string type_of(const agent_protocol::UpgraderMessage& message);

}  // namespace fuzz
