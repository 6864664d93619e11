// Makes the summaries of the cell and of its rollouts for clients. For a rollout, computes facts
// that are not in the rollout's own records: its progress as a text, its earliest end, the time at
// which a node goes back to the old version by itself, and its limits. Does no input or output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/http/cell_state.h"
#include "fleet/model/records/record_tree.h"

namespace fleet {

// The summary of a rollout lists the soaking nodes by name only if the rollout has no more nodes
// than this. The page needs the names only for such a rollout, since it does not draw each node of
// a larger one.
inline constexpr std::int64_t soaking_named_max = 1'000;

// The earliest time at which a rollout can end, and the time at which its first node goes back to
// the old version by itself, in seconds since 1970. Both depend on when nodes began to soak, that
// is, to run the new version for some time before it is confirmed. Nodes do not report that moment.
// So the time at which this controller first saw each soak is used instead. The two times may be
// too late, but at most by the delay of this controller's copy of the records.
struct RolloutTimes {
  // The earliest time at which the rollout can end. No value unless the rollout is in the state
  // `rolling`, or in the state `baking`, in which the rollout is still judged after its last batch.
  std::optional<UnixSeconds> not_before = {};
  // The time at which the first node goes back to the old version by itself, if it gets no order to
  // keep the new version until then. No value if no node has the new version on trial.
  std::optional<UnixSeconds> goes_back = {};
};
[[nodiscard]] RolloutTimes times_of(const CellState& cell, const CellState::OneRollout& one,
                                    UnixSeconds now);

// Returns the nodes whose new version soaks now. The nodes' own records show this. In the rollout's
// records, such a node is still `applying`, until its batch is confirmed.
[[nodiscard]] std::vector<std::string> soaking_nodes(const CellState& cell,
                                                     const CellState::OneRollout& one);

// Returns the phase of the current batch. The rollout's record may still say `applying` when the
// new version already soaks (must work for some time before it is confirmed) on all nodes whose
// recorded stage is `applying`. This function then returns `soaking`.
[[nodiscard]] BatchPhase phase_now(const CellState& cell, const CellState::OneRollout& one);

// Returns the progress of the rollout as a text such as `batch 2 of 4 is soaking; 12 of 40 nodes
// keep the new version`.
[[nodiscard]] std::string progress_words(const CellState& cell, const CellState::OneRollout& one);

// Returns one text for each limit of the rollout. Examples are the number of failures that ends the
// rollout, and the time after which a node without a confirmation goes back to the old version by
// itself.
[[nodiscard]] std::vector<std::string> limits_of(const CellState::OneRollout& one);

// Returns the findings of the rollout's judge as a text. The judge compares the nodes that have the
// new version with the nodes that do not have it yet. If there are no findings, returns why there
// are none, such as `nothing is compared yet`.
[[nodiscard]] std::string judge_words(const CellState::OneRollout& one);

// Returns the summary of a rollout for clients, as JSON.
[[nodiscard]] JsonTree rollout_summary(const CellState& cell, const CellState::OneRollout& one,
                                       UnixSeconds now);

// ---- the cell

// Returns a summary of the cell at the time `now` for clients, as JSON.
[[nodiscard]] JsonTree summary_of(const CellState& cell, UnixSeconds now);

}  // namespace fleet
