#include "fleet/model/desired_view.h"

#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Returns the record with its revision. If the record cannot be parsed, returns an empty record:
// the driver then begins and stops nothing on the node.
template <class Record>
Seen<Record> seen(const KeyValue& record) {
  const Result<Record> read = read_record<Record>(record.value);
  return read ? Seen<Record>{read.value(), record.modified} : Seen<Record>{{}, record.modified};
}

bool is_taken_back(const DesiredNode& node, const CellWish& wish) {
  return node.desired.record.version != wish.desired.version;
}

}  // namespace

std::string CellWish::trace() const {
  return "desired-" + std::to_string(revision);
}

std::string_view without_build(std::string_view version) {
  return version.substr(0, version.find('+'));
}

bool is_same_version(std::string_view version, std::string_view other) {
  return without_build(version) == without_build(other);
}

std::optional<CellWish> DesiredView::wish() const {
  const Desired& record = wish_.record;
  // No node moves to a desired version that is pending or refused. A pending version was written by
  // a plan, which will release it. A refused version stays refused until a person writes it again.
  const bool is_held = record.pending || !record.refused.empty();
  if (wish_.revision == 0 || record.version.empty() || is_held) return std::nullopt;
  return CellWish{record, wish_.revision};
}

DesiredNode& DesiredView::changed(const std::string& id) {
  if (!all_changed_) changed_.insert(id);
  return nodes_[id];
}

std::optional<std::set<std::string>> DesiredView::take_changed() {
  const bool all = std::exchange(all_changed_, false);
  std::set<std::string> nodes = std::exchange(changed_, {});
  if (all) return std::nullopt;
  return nodes;
}

void DesiredView::take(const KeyValue& record) {
  const std::optional<ParsedKey> key = parse_key(record.key);
  if (!key) return;
  const std::vector<std::string>& names = key->names;
  if (key->kind == KeyKind::stop) stopped_ = true;
  if (key->kind == KeyKind::desired && names[0] == component_) wish_ = seen<Desired>(record);
  if (key->kind == KeyKind::node_active) changed(names[0]).active = seen<Active>(record);
  if (key->kind == KeyKind::node_instance) {
    changed(names[0]).instances[names[1]] = seen<Instance>(record);
  }
  if (key->kind == KeyKind::node_versions) {
    const auto versions = seen<Versions>(record).record.running;
    const auto found = versions.find(component_);
    changed(names[0]).running = found == versions.end() ? "" : found->second;
  }
  if (names.size() < 2 || names[1] != component_) return;
  if (key->kind == KeyKind::node_upgrade) changed(names[0]).upgrade = seen<Upgrade>(record);
  if (key->kind == KeyKind::node_desired) changed(names[0]).desired = seen<Desired>(record);
  if (key->kind == KeyKind::node_claim) changed(names[0]).claim = seen<Claim>(record);
  if (key->kind == KeyKind::node_command) changed(names[0]).command = seen<Command>(record);
}

void DesiredView::take_absent(const std::string& text) {
  const std::optional<ParsedKey> key = parse_key(text);
  if (!key) return;
  const std::vector<std::string>& names = key->names;
  if (key->kind == KeyKind::stop) stopped_ = false;
  if (key->kind == KeyKind::desired && names[0] == component_) wish_ = {};
  if (names.empty() || !nodes_.contains(names[0])) return;
  DesiredNode& node = changed(names[0]);
  if (key->kind == KeyKind::node_active) node.active = {};
  if (key->kind == KeyKind::node_instance) node.instances.erase(names[1]);
  if (key->kind == KeyKind::node_versions) node.running.clear();
  if (names.size() < 2 || names[1] != component_) return;
  if (key->kind == KeyKind::node_upgrade) node.upgrade = {};
  if (key->kind == KeyKind::node_desired) node.desired = {};
  if (key->kind == KeyKind::node_claim) node.claim = {};
  if (key->kind == KeyKind::node_command) node.command = {};
}

void DesiredView::take_all(const Reading& reading) {
  *this = DesiredView(component_);
  for (const KeyValue& record : reading.found)
    take(record);
}

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
  return is_taken_back(node, wish) || phase == UpgradePhase::failed;
}

std::string stop_id(const DesiredNode& node) {
  return node.upgrade.record.attempt + ".stop.1";
}

}  // namespace fleet
