// Draws a rollout for `rollout watch`: a line for the whole and one for each batch that has begun.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

// Returns `[######....]`.
[[nodiscard]] std::string bar(std::size_t done, std::size_t all, std::size_t width);

struct WatchedRollout {
  bool is_there = false;
  fleet::RolloutState state = fleet::RolloutState::unknown;
  std::string damage = {};  // why it cannot be read
  std::vector<std::string> lines = {};
};

// Draws the records at `rollout/ID` and below it.
[[nodiscard]] WatchedRollout watched(const std::string& id, const fleet::Reading& reading);

}  // namespace fleetctl
