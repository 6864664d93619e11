// What a puppet says when an event of some kind is wanted of it.
#pragma once

#include <cstdint>
#include <optional>

#include "agent-protocol/cpp/wire/message.h"
#include "tests/decisions/explore/canonical.h"
#include "upgrader/core/state.h"

namespace upgrader::simulation {

// What puppets say of times.
struct SaidTimes {
  std::int64_t confirm_timeout_ms = 5'000;  // in a request that has one
  std::int64_t extend_ms = 86'400'000;
};

// Nullopt: a puppet does not say that, but does it.
[[nodiscard]] std::optional<agent_protocol::AgentMessage> message_for(test::EventKind kind,
                                                                      const Agent& agent,
                                                                      const State& state,
                                                                      const SaidTimes& said);

}  // namespace upgrader::simulation
