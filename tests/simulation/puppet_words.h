// What a puppet says when an event of some kind is wanted of it.
#pragma once

#include <optional>

#include "agent-protocol/wire/message.h"
#include "tests/explore/canonical.h"
#include "tests/simulation/random.h"
#include "upgrader/core/state.h"

namespace upgrader::simulation {

// Nullopt: a puppet does not say that, but does it.
[[nodiscard]] std::optional<agent_protocol::AgentMessage> message_for(test::EventKind kind,
                                                                      const Agent& agent,
                                                                      const State& state,
                                                                      Random& random);

}  // namespace upgrader::simulation
