// Shows rollouts to people; the functions here do no input or output. rollouts.cc also has the
// commands fleetctl rollout list, show, pause, resume, abort and undo, and fleetctl why, which
// commands.h declares. rollout_watch.cc makes the lines of fleetctl rollout watch.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/failure_causes.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

// ---- the lines that `fleetctl rollout watch` draws: one for the whole rollout, and one for each
// batch that has begun

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

// ---- the reasons why nodes of a rollout failed: one paragraph for all nodes that failed in the
// same way

// Returns the evidence of a failed version as one line, without the version's output: `exit status
// 3, lived 4.2 s, memory 12 MiB, processor 31 ms`.
[[nodiscard]] std::string measured_words(const fleet::Capsule& capsule);

// Returns the groups of nodes that failed in the same way, as lines for people.
[[nodiscard]] std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups);

}  // namespace fleetctl
