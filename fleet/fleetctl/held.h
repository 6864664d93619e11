// Says why a rollout or a plan that runs begins nothing now: a stop is ordered, or windows are
// closed. No record says so, since that would have to be written anew as time passes.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/plan_decision.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"
#include "fleet/model/windows.h"

namespace fleetctl {

// Returns the nodes of the rollout's batch if some of them have not begun to run the new version.
// Otherwise nothing is to begin now, and the result is empty. `reading` has the rollout's records.
[[nodiscard]] std::vector<std::string> nodes_to_begin(const fleet::Rollout& rollout,
                                                      const fleet::Reading& reading);

// The nodes on which something is to begin, and how long it takes there.
struct ToBegin {
  std::vector<std::string> nodes = {};
  fleet::Ms takes = 0;
  bool ignore_window = false;
};

// Returns what this waits for, or an empty string if nothing holds it back. `cell` has the record
// `stop` and the records of windows, and those of nodes and their identities.
[[nodiscard]] std::string held_words(const ToBegin& what, const fleet::Reading& cell,
                                     fleet::UnixSeconds now, const fleet::ZoneBook& zones);

// Finds out what the rollout waits for before its batch may begin. `reading` has the rollout's
// records. Returns the exit status.
[[nodiscard]] int find_held(Asker& asker, const fleet::Rollout& rollout,
                            const fleet::Reading& reading, std::string& held);

}  // namespace fleetctl
