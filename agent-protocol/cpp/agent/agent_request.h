// Turns a request for an upgrade from the C interface into a message.
#pragma once

#include "agent-protocol/agent_protocol.h"
#include "agent-protocol/cpp/wire/message.h"
#include "base/result.h"

namespace agent_protocol {

// Returns the message, or a refusal if a name, such as that of a mode, is unknown. The codec checks
// texts and numbers later.
[[nodiscard]] Result<Upgrade> upgrade_from(const agent_protocol_upgrade* given);

}  // namespace agent_protocol
