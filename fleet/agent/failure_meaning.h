// Tells what a failure that the upgrader has reported to an agent means for the command that began
// the upgrade. Pure.
#pragma once

#include <agent-protocol/agent.h>

#include <string>

#include "fleet/model/node_commander.h"
#include "fleet/model/node_ledger.h"

namespace fleet {

[[nodiscard]] inline std::string failure_words(const agent_protocol::Agent::Failure& failure) {
  return failure.stage + ": " + failure.reason;
}

// Returns whether the trial ended because the version did not say `healthy`, which is not the
// version's own failure.
[[nodiscard]] inline bool is_expired(const agent_protocol::Agent::Failure& failure) {
  return failure.stage == "trial" && failure.reason.starts_with("did not say healthy");
}

// Returns how the upgrade ended: it went back because of an order or a missing confirmation, or it
// failed.
[[nodiscard]] inline UpgradeEnding ending_of(const agent_protocol::Agent::Failure& failure,
                                             const NodeLedger& ledger) {
  const bool was_ordered =
      ledger.begun.action == CommandAction::rollback && ledger.begun.trace == ledger.upgrade.trace;
  const bool was_late = ledger.late == ledger.upgrade.id && !ledger.late.empty();
  const bool may_be = failure.stage == "trial" || failure.stage == "cancel";
  return may_be && (was_ordered || was_late || is_expired(failure)) ? UpgradeEnding::rolled_back
                                                                    : UpgradeEnding::failed;
}

// Returns whether the last upgrade has not ended, according to the ledger.
[[nodiscard]] inline bool is_under_way(const NodeLedger& ledger) {
  const UpgradePhase phase = ledger.progress.phase;
  const bool has_ended = ledger.progress.attempt == ledger.upgrade.id &&
                         (phase == UpgradePhase::done || phase == UpgradePhase::failed ||
                          phase == UpgradePhase::unconfirmed || phase == UpgradePhase::rolled_back);
  return !ledger.upgrade.id.empty() && !has_ended;
}

}  // namespace fleet
