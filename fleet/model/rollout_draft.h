// Plans a rollout before anything is written or touched: which nodes it has, in which batches, or
// why it must not begin. `--dry-run` ends here; a rollout begins here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/batch_draft.h"
#include "fleet/model/creation.h"
#include "fleet/model/node_view.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/rollout_terms.h"
#include "fleet/model/target.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns whether a new rollout may have this name. The name is the beginning of the ids of its
// commands, which have a limit, and of its driver's key, which nothing else may use.
[[nodiscard]] bool is_rollout_id(std::string_view text);

// A node that the rollout may include: it has the component.
struct RolloutCandidate {
  TargetNode node = {};
  std::string degraded = {};  // why the node is degraded; empty if it is not
};

// Returns whether a rollout of this release may be undone: no manifest of it has `"undo": false`.
[[nodiscard]] bool may_be_undone(const Release& release);

// Returns those of the nodes that have the component.
[[nodiscard]] std::vector<RolloutCandidate> candidates_in(const std::vector<NodeView>& nodes,
                                                          const std::string& component);

struct RolloutDraft {
  RolloutTerms terms = {};                             // with all open members filled in
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each batch are sorted by name
  std::vector<std::string> excluded = {};              // nodes that are degraded
  std::vector<std::string> not_covered = {};
  std::map<std::string, std::vector<std::string>> unlabelled = {};  // see BatchDraft
};

// Permissions of a person for what would otherwise be refused.
struct DraftLeave {
  bool many_batches = false;  // for more than batches_unasked_max batches
};

// Returns a Refusal if the terms are impossible, the target does not parse, no node is left, there
// are too many batches, or some nodes have a protocol that is too old; the Refusal names these. The
// same candidates, terms and seed always make the same batches. `seed` is used for a random order
// if the terms have none.
[[nodiscard]] Result<RolloutDraft> draft_rollout(const RolloutTerms& terms,
                                                 const std::vector<RolloutCandidate>& candidates,
                                                 const std::string& seed = {},
                                                 const DraftLeave& leave = {});

// Returns the next transaction that writes a new rollout, or no value when all of it is written.
// `written` is the part that is in the store already, with its revision: after an unknown outcome
// or a crash, the caller reads it again and goes on from there. The rollout is `created` until its
// last transaction makes it `rolling`, and until then its `batch` counts the batches written, so
// that nobody drives half a rollout. The last transaction begins something, and so compares that
// `stop` is absent. The first one compares that the release exists, and that no plan has the
// rollout's name.
using WrittenRollout = Written<Rollout>;
[[nodiscard]] std::optional<Transaction> next_creation(
    std::string_view id, const Rollout& wanted, const RolloutDraft& draft, Revision release,
    const std::optional<WrittenRollout>& written);

}  // namespace fleet
