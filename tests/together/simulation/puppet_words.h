// Chooses the message that a puppet must send to make an event of a given kind happen.
#pragma once

#include <cstdint>
#include <optional>

#include "agent-protocol/cpp/wire/message.h"
#include "tests/decisions/explore/canonical.h"
#include "upgrader/core/state.h"

namespace upgrader::simulation {

// The time limits and durations that puppets write into their messages.
struct SaidTimes {
  std::int64_t confirm_timeout_ms = 5'000;  // the time limit in a request that sets confirm_timeout
  std::int64_t extend_ms = 86'400'000;
};

// Returns the message that causes such an event. Returns nullopt if another act of the puppet
// causes it.
[[nodiscard]] std::optional<agent_protocol::AgentMessage> message_for(test::EventKind kind,
                                                                      const Agent& agent,
                                                                      const State& state,
                                                                      const SaidTimes& said);

}  // namespace upgrader::simulation
