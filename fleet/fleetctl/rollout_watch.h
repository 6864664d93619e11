// Makes the lines that `fleetctl rollout watch` draws: one for the whole rollout, and one for each
// batch that has begun. Does no input or output.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

// Returns a bar such as `[######....]`, with `width` characters between the brackets. The filled
// part shows how much of `all` is done.
[[nodiscard]] std::string bar(std::size_t done, std::size_t all, std::size_t width);

struct WatchedRollout {
  bool is_there = false;
  fleet::RolloutState state = fleet::RolloutState::unknown;
  std::string damage = {};  // why the rollout cannot be parsed; empty if it can
  std::vector<std::string> lines = {};
};

// Makes the lines from the rollout's record and the records below its key.
[[nodiscard]] WatchedRollout watched(const std::string& id, const fleet::Reading& reading);

}  // namespace fleetctl
