// Makes the summaries of the cell and of its rollouts for clients, and computes facts about a
// rollout from the records of a cell: its progress, its earliest end, when a node goes back by
// itself, and the limits of the rollout. The page shows these facts beside the rollout's own
// records. Does no input or output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/model/record_tree.h"

namespace fleet {

// The largest number of nodes with which the summary of a rollout lists the soaking nodes by name.
// Only for such a rollout does the page draw each node.
inline constexpr std::int64_t soaking_named_max = 1'000;

// Times in seconds since 1970. Nodes do not report when a soak begins, so it counts from the moment
// at which this controller saw it first. So a time may be too late, but at most by the delay of
// this controller's copy of the records.
struct RolloutTimes {
  // The earliest time at which the rollout can end. No value if the rollout is neither rolling nor
  // baking.
  std::optional<UnixSeconds> not_before = {};
  // The time at which the first node goes back by itself, unless an order to keep the new version
  // comes first. No value if no node has the new version on trial.
  std::optional<UnixSeconds> goes_back = {};
};
[[nodiscard]] RolloutTimes times_of(const CellState& cell, const CellState::OneRollout& one,
                                    UnixSeconds now);

// Returns the nodes that soak. They are found by the nodes' own records, since in the rollout's
// records a node is `applying` until its batch is confirmed.
[[nodiscard]] std::vector<std::string> soaking_nodes(const CellState& cell,
                                                     const CellState::OneRollout& one);

// Returns the phase of the batch under way. The phase is `soaking` if all nodes that have begun
// with the new version soak, although the rollout's record then still says `applying`.
[[nodiscard]] BatchPhase phase_now(const CellState& cell, const CellState::OneRollout& one);

// Returns the progress of the rollout as a text such as `batch 2 of 4 is soaking; 12 of 40 nodes
// keep the new version`.
[[nodiscard]] std::string progress_words(const CellState& cell, const CellState::OneRollout& one);

// Returns one text for each limit of the rollout, such as the number of failures that ends it, or
// the time after which a node without a confirmation goes back by itself.
[[nodiscard]] std::vector<std::string> limits_of(const CellState::OneRollout& one);

// Returns the findings of the judge, which compares versions. If there are no findings, returns the
// reason.
[[nodiscard]] std::string judge_words(const CellState::OneRollout& one);

// Returns the summary of a rollout for clients, as JSON.
[[nodiscard]] JsonTree rollout_summary(const CellState& cell, const CellState::OneRollout& one,
                                       UnixSeconds now);

// ---- the cell

// Returns a summary of the cell at the time `now` for clients, as JSON.
[[nodiscard]] JsonTree summary_of(const CellState& cell, UnixSeconds now);

}  // namespace fleet
