// The ledger of a component: a file in which fleet-agent notes the commands that it has begun and
// their answers. Thanks to the ledger, each command is executed at most once, even if fleet-agent
// is killed. The ledger is synced to disk before fleet-agent executes a command or reports an
// answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"

namespace fleet {

// How many answers the ledger keeps. The node needs only the last one, since a driver repeats only
// its last order. Older answers are kept for people to read.
inline constexpr std::size_t answers_kept = 16;

struct NodeLedger {
  Command begun = {};          // the last command that was begun; without an id if there is none
  Command upgrade = {};        // the command that began the last upgrade
  std::string prepared = {};   // the prepared release, with which an upgrade may begin
  std::string boot_id = {};    // the boot in which the command `reboot` began
  bool reboot_wanted = false;  // the last upgrade needs a reboot
  std::string late = {};       // the id of an upgrade that was not confirmed in time
  std::string committed = {};  // the trace of the last upgrade that was committed
  std::string leaves = {};     // the version that ran when the last upgrade was begun
  std::string came_from = {};  // the version that ran just before the version in `came_to`
  std::string came_to = {};    // the version that runs now, if a command has brought it, or empty
  std::vector<Answer> answers = {};  // the last answers, the newest at the end
  Upgrade progress = {};             // the record node/ID/upgrade/COMPONENT of the last upgrade

  bool operator==(const NodeLedger&) const = default;

  // Returns the answer to the command, or null if there is none yet.
  [[nodiscard]] const Answer* answer_to(std::string_view id) const;
  // Stores the answer, unless the answered command has an answer already.
  void answer(const Answer& answer);

  // Notes that this version of the component runs now. Called only while no upgrade by a command is
  // under way. If this is not the version that the last upgrade by a command has brought, the
  // ledger forgets which version ran before that upgrade, so that no undo brings that version back.
  void runs(std::string_view version);
  // Returns whether `version` is the version that ran just before `running`. `running` is empty if
  // no version runs, as after a crash; the version that ran last then takes the place of `running`.
  [[nodiscard]] bool ran_before(std::string_view version, std::string_view running) const;
};

}  // namespace fleet
