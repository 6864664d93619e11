// Whether the store that a node sees is the one that it knows, or an older copy of it: a store that
// was restored from a snapshot says again what was true then.
#pragma once

#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The signs of the store that a node has seen and does not forget.
struct KnownStore {
  std::int64_t epoch = 0;
  Revision revision = 0;  // the highest; 0: it has seen none yet

  bool operator==(const KnownStore&) const = default;
};

struct StoreVerdict {
  KnownStore known = {};   // from now on
  std::string doubt = {};  // why nothing is done until somebody accepts it; empty: all is well
};

// An epoch that a person has accepted is gone on with, from whatever revision. One without a record
// is 0.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet
