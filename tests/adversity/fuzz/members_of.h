// The members of a message that has been decoded, as the second decoder shows them. Written from
// message.h; no code in common with the archives.
#pragma once

#include "agent-protocol/cpp/wire/message.h"
#include "tests/adversity/fuzz/second_decoder.h"

namespace fuzz {

[[nodiscard]] Members members_of(const agent_protocol::AgentMessage& message);
[[nodiscard]] Members members_of(const agent_protocol::UpgraderMessage& message);

// The value of `type`.
[[nodiscard]] std::string type_of(const agent_protocol::AgentMessage& message);
[[nodiscard]] std::string type_of(const agent_protocol::UpgraderMessage& message);

}  // namespace fuzz
