// Makes the summaries of the cell and its rollouts for clients. Computes facts about a rollout that
// its records lack: its progress in words, its earliest end, the time at which a node goes back by
// itself, and its limits. Does no input or output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/model/records/record_tree.h"

namespace fleet {

// The summary names the soaking nodes only if the rollout has at most this many nodes. The page
// does not draw the single nodes of a larger rollout.
inline constexpr std::int64_t soaking_named_max = 1'000;

// Times in seconds since 1970. They depend on when nodes began to soak (to run the new version for
// some time before it is confirmed). Nodes do not report this, so these times are computed from the
// moment at which this controller first saw the soak, which may be slightly later.
struct RolloutTimes {
  // When the rollout can end at the earliest. Set only while the rollout is `rolling`, or `baking`
  // (still judged after its last batch).
  std::optional<UnixSeconds> not_before = {};
  // When the first node goes back to the old version, unless it is ordered to keep the new version
  // before. Not set if no node has the new version on trial.
  std::optional<UnixSeconds> goes_back = {};
};
[[nodiscard]] RolloutTimes times_of(const CellState& cell, const CellState::OneRollout& one,
                                    UnixSeconds now);

// Returns the nodes whose new version soaks now, according to their own records. The rollout's
// records still call them `applying` until the batch is confirmed.
[[nodiscard]] std::vector<std::string> soaking_nodes(const CellState& cell,
                                                     const CellState::OneRollout& one);

// Returns the phase of the current batch. If all nodes that are `applying` in the rollout's records
// already soak (run the new version for some time before it is confirmed), returns `soaking`.
[[nodiscard]] BatchPhase phase_now(const CellState& cell, const CellState::OneRollout& one);

// Returns the progress of the rollout as a text such as `batch 2 of 4 is soaking; 12 of 40 nodes
// keep the new version`.
[[nodiscard]] std::string progress_words(const CellState& cell, const CellState::OneRollout& one);

// Returns a text for each limit of the rollout, such as the number of failures that ends it, or the
// time after which a node without a confirmation goes back by itself.
[[nodiscard]] std::vector<std::string> limits_of(const CellState::OneRollout& one);

// Returns the findings of the judge, which compares nodes that have the new version with nodes that
// do not have it yet. Without findings, returns the reason, such as `nothing is compared yet`.
[[nodiscard]] std::string judge_words(const CellState::OneRollout& one);

// Returns the summary of a rollout for clients, as JSON.
[[nodiscard]] JsonTree rollout_summary(const CellState& cell, const CellState::OneRollout& one,
                                       UnixSeconds now);

// ---- the cell

// Returns a summary of the cell at the time `now` for clients, as JSON.
[[nodiscard]] JsonTree summary_of(const CellState& cell, UnixSeconds now);

}  // namespace fleet
