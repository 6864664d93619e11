// fleet-agent's record on its disk of the commands for one component, so that each is executed at
// most once whatever is killed. It is synced before anything is done, and before anybody is told.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"

namespace fleet {

// A driver repeats at most its last order; more are kept for people.
inline constexpr std::size_t answers_kept = 16;

struct NodeLedger {
  Command begun = {};                // the last that was begun; its id is empty where there is none
  Command upgrade = {};              // that which began the last upgrade
  std::string prepared = {};         // the release that an upgrade may begin with
  std::string boot_id = {};          // of the boot that `reboot` was to end
  bool reboot_wanted = false;        // the last upgrade asked for one
  std::string late = {};             // the id of an upgrade that was not confirmed in time
  std::string committed = {};        // the trace of the last upgrade that was
  std::vector<Answer> answers = {};  // the newest last
  Upgrade progress = {};             // what node/ID/upgrade/COMPONENT is to say

  bool operator==(const NodeLedger&) const = default;

  // The answer to the command; null if there is none yet.
  [[nodiscard]] const Answer* answer_to(std::string_view id) const;
  void answer(std::string_view id, std::string_view result, std::string_view instance);
};

}  // namespace fleet
