// What becomes of a rollout's record when a person tells it something. Pure.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/wire/result.h"
#include "fleet/fleetctl/options.h"
#include "fleet/model/rollout_records.h"

namespace fleetctl {

struct WishedRollout {
  std::optional<fleet::Rollout> rollout = {};  // to be written; none: it is so already
  bool begins = false;                         // so it is written only while `stop` is absent
  std::string words = {};
};

// Refused where it comes too late, or too early.
[[nodiscard]] agent_protocol::Result<WishedRollout> wished(const fleet::Rollout& rollout,
                                                           RolloutWish wish, bool leave);

}  // namespace fleetctl
