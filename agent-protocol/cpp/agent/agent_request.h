// A request for an upgrade, as the C interface takes it, made a message.
#pragma once

#include "agent-protocol/agent_protocol.h"
#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"

namespace agent_protocol {

// Judges names only: texts and numbers are for the codec.
[[nodiscard]] Result<Upgrade> upgrade_from(const agent_protocol_upgrade* given);

}  // namespace agent_protocol
