// Makes the texts in which fleetctl shows rollouts; does no input or output. rollout_watch.cc
// implements the lines of `fleetctl rollout watch`, and rollouts.cc the others. rollouts.cc also
// implements the commands `fleetctl rollout list`, `show`, `pause`, `resume`, `abort` and `undo`,
// and `fleetctl why`.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/reasons/failure_causes.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"

namespace fleetctl {

// Returns a text about the nodes that an undo could not bring back to their old version, or an
// empty string if there are none.
[[nodiscard]] std::string kept_words(const fleet::Rollout& rollout);
// Returns the reason of the rollout's state, followed by the text of kept_words() if that is not
// empty.
[[nodiscard]] std::string reason_words(const fleet::Rollout& rollout);

// ---- the lines that `fleetctl rollout watch` draws: one for the whole rollout, and one for each
// batch that has begun

// Returns a bar such as `[######....]`, with `width` characters between the brackets. The filled
// part shows which share of `all` is done.
[[nodiscard]] std::string bar(std::size_t done, std::size_t all, std::size_t width);

struct WatchedRollout {
  bool is_there = false;
  fleet::RolloutState state = fleet::RolloutState::unknown;
  std::string damage = {};  // why the rollout cannot be parsed; empty if it can
  std::vector<std::string> lines = {};
};

// Makes the lines of `fleetctl rollout watch` from the rollout's record and the records below its
// key.
[[nodiscard]] WatchedRollout watched(const std::string& id, const fleet::Reading& reading);

// ---- the reasons why nodes of a rollout failed: one paragraph for each group of nodes that failed
// in the same way

// Returns the measured evidence of a failed version in one line, such as `exit status 3, lived 4.2
// s, memory 12 MiB, processor 31 ms`. Leaves out its output.
[[nodiscard]] std::string measured_words(const fleet::Capsule& capsule);

// Returns the groups of nodes that failed in the same way, as lines for people.
[[nodiscard]] std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups);

}  // namespace fleetctl
