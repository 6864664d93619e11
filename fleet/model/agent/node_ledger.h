// The ledger of a component (a program that is upgraded on a node): a file in which fleet-agent
// notes the commands that it has begun, and their answers. Thanks to the ledger, each command is
// executed at most once, even if fleet-agent is killed. fleet-agent executes a command, and reports
// an answer, only after the ledger was synced to disk.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/node_records.h"

namespace fleet {

// How many answers the ledger keeps. The node needs only the last one, since a controller repeats
// only its last command. Older answers are for people to read.
inline constexpr std::size_t answers_kept = 16;

struct NodeLedger {
  Command begun = {};          // the last command that has begun; its id is empty if there is none
  Command upgrade = {};        // the command that began the last upgrade
  std::string prepared = {};   // the release that is ready for an upgrade; empty if there is none
  std::string boot_id = {};    // the id of the boot in which the command `reboot` has begun
  bool reboot_wanted = false;  // the last upgrade needs a reboot
  std::string late = {};       // the id of an upgrade that was not confirmed in time
  std::string committed = {};  // the trace (the order's id) of the last upgrade that was committed
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

  // Records that this version of the component runs now. Called only while no upgrade by a command
  // is under way. If another version than `came_to` runs now, the ledger forgets `came_from`, so
  // that no undo goes back to that version.
  void runs(std::string_view version);
  // Returns whether `version` ran just before `running`, which is the running version. If no
  // version runs, as after a crash, `running` is empty, and stands for the version that ran last.
  [[nodiscard]] bool ran_before(std::string_view version, std::string_view running) const;
};

}  // namespace fleet
