// Decides whether the store that a node sees is the one that it knows, or an older copy: a store
// that was restored from a snapshot repeats orders that were true then.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The facts by which a node recognises its store. The node keeps them on disk.
struct KnownStore {
  std::int64_t epoch = 0;
  Revision revision = 0;  // the highest revision seen; 0 if none was seen yet

  bool operator==(const KnownStore&) const = default;
};

struct StoreVerdict {
  KnownStore known = {};   // the facts to keep from now on
  std::string doubt = {};  // why nothing is done until somebody accepts it; empty if all is well
};

// Returns whether the node goes on with this store. If a person has accepted the epoch, the node
// goes on, whatever the revision. An absent record of the epoch counts as epoch 0.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet
