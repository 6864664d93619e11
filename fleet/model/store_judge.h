// Decides whether a node still sees the store that it saw before. If not, the store may be an older
// copy, restored from a snapshot, which repeats orders that were valid only in the past.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The facts by which a node recognises its store. The node keeps them on its disk.
struct KnownStore {
  std::int64_t epoch = 0;
  Revision revision = 0;  // the highest revision seen; 0 if none

  bool operator==(const KnownStore&) const = default;
};

struct StoreVerdict {
  KnownStore known = {};   // the facts about the store to keep from now on
  std::string doubt = {};  // why the node must do nothing; empty if it may go on
};

// Decides whether the node may go on with this store. A node that has noted no store yet may go on.
// If the epoch in the store is the noted one, the node may go on unless the revision is lower than
// the noted one. If the epoch is another one, the node may go on only if a person has accepted that
// epoch; the revision does not matter then. If the record `epoch` is absent, the epoch is 0.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet
