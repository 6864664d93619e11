// The course of a rollout, before anything is written or touched: which nodes it has, in which
// batches, and why not where it must not begin. `--dry-run` ends here; a rollout begins here.
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

// The names that a new rollout may have: its name is the beginning of its commands' ids, which have
// a limit, and of its driver's key, which it has no one else to share with.
[[nodiscard]] bool is_rollout_id(std::string_view text);

// A node that the rollout may have: it has the component.
struct RolloutCandidate {
  TargetNode node = {};
  std::string degraded = {};  // why; empty: it is not
};

// Of these nodes, those that have the component.
[[nodiscard]] std::vector<RolloutCandidate> candidates_in(const std::vector<NodeView>& nodes,
                                                          const std::string& component);

struct RolloutDraft {
  RolloutTerms terms = {};                             // with nothing open any more
  std::vector<std::vector<std::string>> batches = {};  // the nodes of each are sorted by name
  std::vector<std::string> excluded = {};              // degraded
  std::vector<std::string> not_covered = {};
  std::map<std::string, std::vector<std::string>> unlabelled = {};  // see BatchDraft
};

// A person's leave for what is otherwise refused.
struct DraftLeave {
  bool many_batches = false;  // more than batches_unasked_max
};

// Refused: terms that cannot be, a target that does not parse, no node left, too many batches, or
// nodes whose protocol is too old, all of which are named. The same candidates, terms and seed
// always make the same batches. `seed` is of a random order, where the terms have none.
[[nodiscard]] Result<RolloutDraft> draft_rollout(const RolloutTerms& terms,
                                                 const std::vector<RolloutCandidate>& candidates,
                                                 const std::string& seed = {},
                                                 const DraftLeave& leave = {});

// The next transaction that writes a new rollout; no value when all of it is written. The part that
// is there already is `written` (no value if none is) with its revision, so that after an unknown
// outcome, or a death, reading again tells how to go on. It is `created` until its last transaction
// makes it `rolling`, and its `batch` counts those written: nobody drives half of one. That last
// one begins something, and so compares that `stop` is absent; the first compares that the release
// is there, and that no plan has the name.
using WrittenRollout = Written<Rollout>;
[[nodiscard]] std::optional<Transaction> next_creation(
    std::string_view id, const Rollout& wanted, const RolloutDraft& draft, Revision release,
    const std::optional<WrittenRollout>& written);

}  // namespace fleet
