// The part of NodeCommander for a command that an earlier process of fleet-agent has begun. It
// finds out how the command ended.
#include "fleet/model/node_commander.h"

namespace fleet {
namespace {

// Returns whether the ledger already says how the last upgrade ended.
bool is_ended(const NodeLedger& ledger) {
  if (ledger.progress.attempt != ledger.upgrade.id) return false;
  return ledger.progress.phase == UpgradePhase::done ||
         ledger.progress.phase == UpgradePhase::failed ||
         ledger.progress.phase == UpgradePhase::unconfirmed ||
         ledger.progress.phase == UpgradePhase::rolled_back;
}

}  // namespace

void NodeCommander::take(const Restarted& event) {
  const bool unanswered =
      !ledger_.begun.id.empty() && ledger_.answer_to(ledger_.begun.id) == nullptr;
  // If the last command has no answer, the earlier process may have executed it without noting
  // that.
  const bool upgrades = ledger_.begun.action == CommandAction::apply ||
                        ledger_.begun.action == CommandAction::upgrade;
  if (unanswered && upgrades) {
    ledger_.prepared.clear();
    ledger_.upgrade = ledger_.begun;
  }
  if (!event.under_way.empty() && event.under_way == ledger_.upgrade.id) resume_run(event);
  if (!event.ended.empty() && event.ended == ledger_.upgrade.id && !is_ended(ledger_)) {
    resume_run(event);
    take(UpgradeEnded{event.ended, event.ending, event.why, event.expired, event.reboot_required,
                      event.evidence});
  }
  if (unanswered) resolve_begun(event);
}

void NodeCommander::resume_run(const Restarted& event) {
  run_ = Run{.command = ledger_.upgrade};
  if (event.activated_ago) run_->activated = now_ - *event.activated_ago;
  run_->late = ledger_.late == ledger_.upgrade.id;
  run_->soaked = ledger_.progress.phase == UpgradePhase::soaked;
  run_->told = ledger_.begun.action == CommandAction::rollback &&
               ledger_.begun.trace == ledger_.upgrade.trace;
  if (run_->told) run_->reason = ledger_.begun.reason;
  if (run_->activated && !run_->soaked && run_->command.action == CommandAction::apply) {
    progress(UpgradePhase::soaking, "");
  }
}

void NodeCommander::resolve_begun(const Restarted& event) {
  const Command begun = ledger_.begun;
  const bool ended = event.ended == ledger_.upgrade.id && !event.ended.empty();
  const bool committed = ended && event.ending == UpgradeEnding::committed;
  if (ledger_.answer_to(begun.id) != nullptr) return;
  switch (begun.action) {
    case CommandAction::apply:
      if (run_ && run_->activated) answer(begun.id, result_done);
      if (!run_) answer(begun.id, result_interrupted);
      return;  // the answer follows when the new version is activated
    case CommandAction::upgrade:
      if (!run_) answer(begun.id, result_interrupted);
      return;
    case CommandAction::confirm:
      if (!ended) return answer(begun.id, result_interrupted);
      return answer(begun.id, committed ? std::string(result_done) : "went back");
    case CommandAction::rollback:
      if (!ended) return answer(begun.id, result_interrupted);
      return answer(begun.id, committed ? result_committed : result_done);
    case CommandAction::reboot: {
      const bool booted = identity_.boot_id != ledger_.boot_id;
      if (booted) ledger_.reboot_wanted = false;
      return answer(begun.id, booted ? std::string(result_done) : "did not reboot");
    }
    case CommandAction::prepare:
    case CommandAction::stop:
    case CommandAction::status:
    case CommandAction::unknown:
      return answer(begun.id, result_interrupted);
  }
}

}  // namespace fleet
