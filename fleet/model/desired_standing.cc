#include "fleet/model/desired_standing.h"

namespace fleet {
namespace {

bool has_refused(const DesiredNode& node, const std::string& trace) {
  const Answer& answer = node.answer.record;
  return answer.command == trace + ".stage.1" && answer.result != result_done;
}

}  // namespace

bool is_ours(const DesiredNode& node) {
  return node.claim.record.by.starts_with("desired-");
}

bool runs(const DesiredNode& node, const Wish& wish) {
  return without_build(node.running) == without_build(wish.desired.version);
}

bool is_of(const DesiredNode& node, const std::string& trace) {
  return node.upgrade.record.attempt.starts_with(trace + ".");
}

bool is_ended(UpgradePhase phase) {
  return phase == UpgradePhase::done || phase == UpgradePhase::failed ||
         phase == UpgradePhase::unconfirmed || phase == UpgradePhase::rolled_back;
}

bool is_at_end(const DesiredNode& node) {
  const std::string& trace = node.claim.record.by;
  if (is_of(node, trace) && is_ended(node.upgrade.record.phase)) return true;
  return node.answer.record.command == trace + ".rollback.1" || has_refused(node, trace);
}

bool is_tried(const DesiredNode& node, const Wish& wish) {
  return is_of(node, wish.trace()) || node.answer.record.command.starts_with(wish.trace() + ".");
}

bool has_failed(const DesiredNode& node, const Wish& wish) {
  const UpgradePhase phase = node.upgrade.record.phase;
  const bool ended = is_of(node, wish.trace()) && is_ended(phase);
  return (ended && phase != UpgradePhase::done) || has_refused(node, wish.trace());
}

bool is_told_to_stop(const DesiredNode& node, const Wish& wish) {
  return node.desired.revision != 0 && node.desired.record.trace == node.claim.record.by &&
         node.desired.record.version == wish.desired.version;
}

}  // namespace fleet
