// fleet-agent's record on its disk of the commands for one component. It makes each command execute
// at most once, even if processes are killed. It is synced before anything is done, and before
// anybody is told.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"

namespace fleet {

// The number of answers that are kept. A driver repeats at most its last order; people may look at
// more.
inline constexpr std::size_t answers_kept = 16;

struct NodeLedger {
  Command begun = {};          // the last command that was begun; its id is empty if there is none
  Command upgrade = {};        // the command that began the last upgrade
  std::string prepared = {};   // the release with which an upgrade may begin
  std::string boot_id = {};    // the boot that the command `reboot` was to end
  bool reboot_wanted = false;  // the last upgrade asked for a reboot
  std::string late = {};       // the id of an upgrade that was not confirmed in time
  std::string committed = {};  // the trace of the last upgrade that was committed
  std::string leaves = {};     // the version that ran when the last upgrade was begun
  std::string came_from = {};  // the version that ran just before the present one,
  std::string came_to = {};    // and the present one; empty if no command has brought it
  std::vector<Answer> answers = {};  // the newest is the last
  Upgrade progress = {};             // the contents for the record node/ID/upgrade/COMPONENT

  bool operator==(const NodeLedger&) const = default;

  // Returns the answer to the command, or null if there is none yet.
  [[nodiscard]] const Answer* answer_to(std::string_view id) const;
  void answer(std::string_view id, std::string_view result, std::string_view instance);

  // Notes that this version runs now. Called when no upgrade that a command has begun is under way.
  // If the version did not come by the last of these upgrades, it is not known which version ran
  // before it.
  void runs(std::string_view version);
  // Returns whether the version is the one that ran just before `running`.
  [[nodiscard]] bool ran_before(std::string_view version, std::string_view running) const;
};

}  // namespace fleet
