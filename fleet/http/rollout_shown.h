// Computes from the records of a cell: how far a rollout is, how long it lasts at least, when a
// node goes back by itself, and which limits the rollout has. The page shows this beside the
// rollout's own records. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/model/record_tree.h"

namespace fleet {

// The largest number of nodes in a rollout for which the nodes that soak are listed by name. Only
// in such rollouts, the page draws the nodes one by one.
inline constexpr std::int64_t soaking_named_max = 1'000;

// Times in seconds since 1970. Nodes do not report when a soak begins, so a soak counts from the
// moment at which this controller saw it first. Therefore a time may be too late, by at most the
// age of this controller's copy of the records.
struct RolloutTimes {
  // The rollout lasts at least until this time. No value unless the rollout is rolling or baking.
  std::optional<UnixSeconds> not_before = {};
  // If no order to keep the new version comes, the first node goes back by itself at this time. No
  // value if no node has the new version on trial.
  std::optional<UnixSeconds> goes_back = {};
};
[[nodiscard]] RolloutTimes times_of(const CellState& cell, const CellState::OneRollout& one,
                                    UnixSeconds now);

// Returns the nodes that soak. For this, the nodes' own records are needed: in the rollout's
// records, a node is `applying` until its batch is confirmed.
[[nodiscard]] std::vector<std::string> soaking_nodes(const CellState& cell,
                                                     const CellState::OneRollout& one);

// Returns the phase of the batch under way. If all nodes that have begun the new version soak, the
// phase is `soaking`, although the rollout's record says `applying`.
[[nodiscard]] BatchPhase phase_now(const CellState& cell, const CellState::OneRollout& one);

// Returns how far the rollout is: `batch 2 of 4 is soaking; 12 of 40 nodes keep the new version`.
[[nodiscard]] std::string progress_words(const CellState& cell, const CellState::OneRollout& one);

// Returns a text for each limit of the rollout, such as how many failures end it, and when a node
// without a confirmation goes back by itself.
[[nodiscard]] std::vector<std::string> limits_of(const CellState::OneRollout& one);

// Returns the judge's findings, or why there are none.
[[nodiscard]] std::string judge_words(const CellState::OneRollout& one);

// Returns the summary of a rollout as JSON.
[[nodiscard]] JsonTree rollout_summary(const CellState& cell, const CellState::OneRollout& one,
                                       UnixSeconds now);

}  // namespace fleet
