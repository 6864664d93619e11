// Lists the members of a message that the codec has decoded, in the form that the second decoder
// uses. Written from message.h; shares no code with the codec's archives.
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
