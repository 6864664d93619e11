// Interprets the failure of an upgrade of fleet-agent itself: was the new version bad, or did the
// node go back because of a command, or because nobody confirmed the new version? Does no input or
// output.
#pragma once

#include <agent-protocol/agent.h>

#include <string>
#include <vector>

#include "fleet/model/agent/capsule.h"
#include "fleet/model/agent/node_commander.h"
#include "fleet/model/agent/node_ledger.h"

namespace fleet {

[[nodiscard]] inline std::string failure_words(const agent_protocol::Agent::Failure& failure) {
  return failure.stage + ": " + failure.reason;
}

// Returns the evidence of the failure, made from the upgrader's message about the failure.
[[nodiscard]] inline std::vector<Capsule> evidence_of(const agent_protocol::Agent::Failure& failure,
                                                      EvidenceLevel level) {
  return capsule_of({.stage = failure.stage,
                     .reason = failure.reason,
                     .exit_status = failure.exit_status,
                     .signal = failure.signal},
                    level);
}

// Returns whether the trial ended because the new version did not send `healthy` to the upgrader in
// time. Either nobody confirmed the new version, or the new version could not reach the store. The
// version itself is not to blame then.
[[nodiscard]] inline bool is_expired(const agent_protocol::Agent::Failure& failure) {
  return failure.stage == "trial" && failure.reason.starts_with("did not say healthy");
}

// Returns how an upgrade that was not committed has ended: `rolled_back` because of a command or a
// missing confirmation, or `failed` because the new version was bad.
[[nodiscard]] inline UpgradeEnding ending_of(const agent_protocol::Agent::Failure& failure,
                                             const NodeLedger& ledger) {
  const bool was_ordered =
      ledger.begun.action == CommandAction::rollback && ledger.begun.trace == ledger.upgrade.trace;
  const bool was_late = ledger.late == ledger.upgrade.id && !ledger.late.empty();
  const bool may_be = failure.stage == "trial" || failure.stage == "cancel";
  return may_be && (was_ordered || was_late || is_expired(failure)) ? UpgradeEnding::rolled_back
                                                                    : UpgradeEnding::failed;
}

// Returns whether the last upgrade that a command has ordered is still under way, according to the
// ledger (the file with the commands that were begun). If the ledger contains the answer
// `interrupted` to that command, the upgrade is over: after a restart, fleet-agent found that the
// upgrader had dropped it.
[[nodiscard]] inline bool is_under_way(const NodeLedger& ledger) {
  const Answer* answer = ledger.answer_to(ledger.upgrade.id);
  if (answer != nullptr && answer->result == result_interrupted) return false;
  const UpgradePhase phase = ledger.progress.phase;
  const bool has_ended = ledger.progress.attempt == ledger.upgrade.id &&
                         (phase == UpgradePhase::done || phase == UpgradePhase::failed ||
                          phase == UpgradePhase::unconfirmed || phase == UpgradePhase::rolled_back);
  return !ledger.upgrade.id.empty() && !has_ended;
}

}  // namespace fleet
