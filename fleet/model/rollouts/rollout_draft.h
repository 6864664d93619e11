// draft_rollout() makes the draft of a rollout before anything is written: the nodes and batches,
// or the reason why the rollout must not begin. Without `--dry-run`, a RolloutCreation then writes
// the rollout.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/nodes/target.h"
#include "fleet/model/records/creation.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleet {

// Returns whether a new rollout may have this name. The name must be short, since the ids of the
// rollout's commands begin with it. A name is refused if the key driver/NAME belongs to another
// kind of driver, such as the driver of the history.
[[nodiscard]] bool is_rollout_id(std::string_view text);

// A node that may become a part of the rollout, since it has the component.
struct RolloutCandidate {
  TargetNode node = {};
  std::string degraded = {};  // why the node is degraded; empty if it is not
};

// Returns whether a rollout of this release may be undone, that is, whether none of the release's
// manifests has `"undo": false`.
[[nodiscard]] bool may_be_undone(const Release& release);

// Returns those of the nodes that have the component, as candidates for a rollout.
[[nodiscard]] std::vector<RolloutCandidate> candidates_in(const std::vector<NodeView>& nodes,
                                                          const std::string& component);

struct RolloutDraft {
  // The rollout's terms, with values for all terms that the person left open.
  RolloutTerms terms = {};
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each batch are sorted by name
  std::vector<std::string> excluded = {};  // nodes that are left out, since they are degraded
  std::vector<std::string> not_covered = {};
  // For each label of `--apart`, the nodes without this label. `--apart` does not limit how many of
  // them are in a batch.
  std::map<std::string, std::vector<std::string>> unlabelled = {};
};

// Permissions and limits for a draft that are not among the rollout's terms.
struct DraftLeave {
  bool many_batches = false;  // allows more than batches_unasked_max batches
  // The budgets of the cell: for each label, how many nodes with the same value of the label may be
  // down at the same time. No batch gets more nodes with one value than its budget allows.
  std::map<std::string, std::int64_t> budgets = {};
};

// Returns the draft of a rollout. Returns a Refusal if the terms are impossible, the target cannot
// be parsed, no node is left, there are too many batches, or the protocol of some nodes is too old.
// `candidates` are the nodes from which the target selects. If the order of the nodes is random and
// the terms have no seed, `seed` decides the order. Equal arguments always make equal batches.
[[nodiscard]] Result<RolloutDraft> draft_rollout(const RolloutTerms& terms,
                                                 const std::vector<RolloutCandidate>& candidates,
                                                 const std::string& seed = {},
                                                 const DraftLeave& leave = {});

using WrittenRollout = Written<Rollout>;

// Returns the next transaction that writes a new rollout, or no value if everything is written.
// `written` is the rollout's record as the store has it now, so a caller can continue after a crash
// or a lost answer. The rollout is in the state `created`, in which no controller drives it, until
// the last transaction sets the state to `rolling`. Until then, the member `batch` counts the
// written batches.
//
// The store refuses the first transaction if the release has changed, a plan has this name, or the
// record `stop` exists. It refuses the last transaction if the record `stop` exists.
[[nodiscard]] std::optional<Transaction> next_creation(
    std::string_view id, const Rollout& wanted, const RolloutDraft& draft, Revision release,
    const std::optional<WrittenRollout>& written);

// Returns why a new rollout may not have this name, or no value if it may. The name of an ended
// rollout is not used again: the ids of its commands begin with the name, and a node that knows an
// id only repeats its old answer. The reading must contain the history, which lists ended rollouts.
// After a restore, the history may lack some of them, so the ids get one more part: see id_end() in
// rollout_view.h.
[[nodiscard]] std::optional<std::string> why_name_was_used(std::string_view id,
                                                           const Reading& reading);

// Writes a new rollout.
class RolloutCreation : public Creation {
 public:
  // `release` is the revision of the release's record. If the record changes before the rollout is
  // written, the store refuses to write the rollout.
  RolloutCreation(std::string id, Rollout wanted, RolloutDraft draft, Revision release);

  [[nodiscard]] const std::string& trace() const { return wanted_.trace; }

 private:
  [[nodiscard]] agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const override;

  std::string id_;
  Rollout wanted_;
  RolloutDraft draft_;
  Revision release_;
};

}  // namespace fleet
