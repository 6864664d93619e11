#include "fleet/model/desired_standing.h"

namespace fleet {
namespace {

bool is_taken_back(const DesiredNode& node, const CellWish& wish) {
  return node.desired.record.version != wish.desired.version;
}

}  // namespace

bool runs(const DesiredNode& node, const std::string& version) {
  return without_build(node.running) == without_build(version);
}

UpgradePhase phase_of(const DesiredNode& node) {
  const std::string attempt = "desired." + std::to_string(node.desired.revision) + ".";
  return node.upgrade.record.attempt.starts_with(attempt) ? node.upgrade.record.phase
                                                          : UpgradePhase::unknown;
}

bool is_ended(UpgradePhase phase) {
  return phase == UpgradePhase::done || phase == UpgradePhase::failed ||
         phase == UpgradePhase::unconfirmed || phase == UpgradePhase::rolled_back;
}

bool is_told(const DesiredNode& node, const CellWish& wish) {
  return node.desired.revision != 0 && node.desired.record.trace == wish.trace();
}

bool is_under_way(const DesiredNode& node, const CellWish& wish) {
  if (!is_told(node, wish) || is_taken_back(node, wish)) return false;
  const UpgradePhase phase = phase_of(node);
  return !is_ended(phase) && (phase != UpgradePhase::unknown || !runs(node, wish.desired.version));
}

bool has_failed(const DesiredNode& node, const CellWish& wish) {
  if (!is_told(node, wish)) return false;
  const UpgradePhase phase = phase_of(node);
  return is_taken_back(node, wish) || (is_ended(phase) && phase != UpgradePhase::done);
}

std::string stop_id(const DesiredNode& node) {
  return "desired." + std::to_string(node.desired.revision) + ".stop.1";
}

}  // namespace fleet
