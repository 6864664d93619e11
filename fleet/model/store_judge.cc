#include "fleet/model/store_judge.h"

#include <algorithm>

namespace fleet {

StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch, Revision revision) {
  const bool is_new = known.revision == 0;
  const bool is_another = epoch.number != known.epoch;
  if (is_new || (is_another && epoch.accepted)) return {{epoch.number, revision}, ""};
  if (is_another) {
    return {known, "epoch " + std::to_string(epoch.number) +
                       " is not accepted (known: " + std::to_string(known.epoch) + ")"};
  }
  if (revision < known.revision) {
    return {known, "the store is at revision " + std::to_string(revision) + ", and was at " +
                       std::to_string(known.revision)};
  }
  return {{known.epoch, revision}, ""};
}

}  // namespace fleet
