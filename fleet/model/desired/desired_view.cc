#include "fleet/model/desired/desired_view.h"

#include <utility>

#include "fleet/model/agent/wish_machine.h"
#include "fleet/model/records/effort.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The beginning of the member `trace` in an order that a node gets because of the cell's desired
// version.
constexpr std::string_view traces = "desired-";

// Returns the record with its revision. If the record cannot be parsed, returns an empty record, so
// that the driver gives no order to the node.
template <class Record>
Seen<Record> seen(const KeyValue& record) {
  const Result<Record> read = read_record<Record>(record.value);
  return read ? Seen<Record>{read.value(), record.modified} : Seen<Record>{{}, record.modified};
}

bool is_taken_back(const DesiredNode& node, const CellWish& wish) {
  return node.desired.record.version != wish.desired.version;
}

// Returns whether the node may be ordered to move to the desired version, as far as the node's own
// records show. The caller examines other reasons to wait, such as a closed maintenance window.
// `waits` is true if an upgrade to an earlier desired version has not ended on the node.
bool may_get_order(const DesiredNode& node, const CellWish& wish, bool waits) {
  const bool moved_since = node.desired.revision > wish.revision;
  if (node.claim.revision != 0 || node.desired.record.pinned || moved_since) return false;
  if (is_told(node, wish) || node.running.empty()) return false;
  // A node that already runs the desired version needs no order, except while an upgrade to an
  // earlier desired version has not ended on it: the order makes the node cancel that upgrade.
  if (runs(node, wish.desired.version) && !waits) return false;
  const auto active = node.instances.find(node.active.record.instance);
  return active != node.instances.end() && active->second.record.degraded.empty();
}

// Returns whether the node's old instance may be ordered to stop, as far as the node's own records
// show. The caller examines other reasons to wait, such as a closed maintenance window. `ours` says
// whether the node was ordered to move because of the cell's current wish.
bool may_be_stopped(const DesiredNode& node, bool ours) {
  if (node.claim.revision != 0 || phase_of(node) != UpgradePhase::cutover_ready) return false;
  if (!node.desired.record.pinned && !ours) return false;
  // The id of the command begins with the id of the attempt, which the node has written. If the
  // node has written an id that is too long, the command would not be valid.
  const std::string id = stop_id(node);
  return is_command_id(id) && node.command.record.id != id &&
         node.instances.contains(node.active.record.instance);
}

// Returns the version without its build metadata.
std::string_view without_build(std::string_view version) {
  return version.substr(0, version.find('+'));
}

}  // namespace

std::string CellWish::trace() const {
  return std::string(traces) + std::to_string(revision);
}

bool is_same_version(std::string_view version, std::string_view other) {
  return without_build(version) == without_build(other);
}

std::optional<CellWish> wish_of(const Seen<Desired>& record) {
  const Desired& desired = record.record;
  // No node moves to a desired version that is pending or refused. A plan has written a pending
  // version, and removes the mark `pending` when nodes may move. A refused version stays refused
  // until a person writes it again.
  const bool is_held = desired.pending || !desired.refused.empty();
  if (record.revision == 0 || desired.version.empty() || is_held) return std::nullopt;
  return CellWish{desired, record.revision};
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

bool is_because_of_wish(const Desired& order) {
  return !order.pinned && order.trace.starts_with(traces);
}

bool is_under_way(const DesiredNode& node) {
  const Desired& order = node.desired.record;
  if (node.desired.revision == 0 || !is_because_of_wish(order)) return false;
  const UpgradePhase phase = phase_of(node);
  return !is_ended(phase) && (phase != UpgradePhase::unknown || !runs(node, order.version));
}

bool has_failed(const DesiredNode& node, const CellWish& wish) {
  if (!is_told(node, wish)) return false;
  const UpgradePhase phase = phase_of(node);
  return is_taken_back(node, wish) || phase == UpgradePhase::failed;
}

WishStanding standing_of(const DesiredNode& node, const CellWish& wish) {
  const UpgradePhase phase = phase_of(node);
  const bool waits = phase != UpgradePhase::unknown && !is_ended(phase);
  const bool is_moving = is_under_way(node, wish);
  return {.has_component = !node.running.empty(),
          .is_under_way = is_moving,
          .has_failed = has_failed(node, wish),
          .is_committed = runs(node, wish.desired.version) && !is_moving,
          .may_begin = may_get_order(node, wish, waits),
          .waits = waits,
          .is_at_gate = is_moving && may_be_stopped(node, true)};
}

bool is_pinned_at_gate(const DesiredNode& node) {
  return node.desired.record.pinned && may_be_stopped(node, false);
}

std::string stop_id(const DesiredNode& node) {
  return stop_id(node.upgrade.record.attempt);
}

// ---- the observations

void DesiredMarks::look(DesiredView& view, Ms now) {
  const auto changed = view.take_changed();
  const auto wish = view.wish();
  component_ = view.component();
  const bool is_absent = view.is_wish_absent();
  const bool was_absent = std::exchange(is_absent_, is_absent);
  const bool is_same_wish = std::exchange(wish_, wish) == wish && is_absent == was_absent;
  if (changed && is_same_wish) {
    for (const std::string& id : *changed)
      look_at(view, id, now);
    return;
  }
  std::set<std::string> all;
  for (const auto& [id, standing] : standings_)
    all.insert(id);
  for (const auto& [id, node] : view.nodes())
    all.insert(id);
  for (const std::string& id : all)
    look_at(view, id, now);
}

void DesiredMarks::look_at(const DesiredView& view, const std::string& id, Ms now) {
  ++effort.nodes;
  if (const auto before = standings_.find(id); before != standings_.end()) {
    count(id, before->second, false);
    standings_.erase(before);
  }
  closed_.erase(id);
  const auto found = view.nodes().find(id);
  if (found == view.nodes().end()) {
    ready_.erase(id);
    told_.erase(id);
    return;
  }
  observe(id, found->second, now);
  const Standing standing = standing_of(id, found->second);
  count(id, standing, true);
  standings_.emplace(id, standing);
}

void DesiredMarks::observe(const std::string& id, const DesiredNode& node, Ms now) {
  const auto before = ready_[id];
  std::map<std::string, std::pair<Ms, std::string>> fresh;
  const auto is_ready = [&](const std::string& name, const std::string& what) {
    const auto known = before.find(name);
    const bool same = known != before.end() && known->second.second == what;
    fresh[name] = {same ? known->second.first : now, what};
  };
  for (const auto& [name, seen] : node.instances) {
    if (seen.record.ready && seen.record.degraded.empty()) is_ready(name, seen.record.version);
  }
  if (component_ != own_component && phase_of(node) == UpgradePhase::cutover_ready) {
    is_ready("", node.upgrade.record.attempt);
  }
  ready_[id] = std::move(fresh);
  if (node.desired.revision == 0 || node.claim.revision != 0 || is_ended(phase_of(node))) {
    told_.erase(id);
  } else if (const auto [at, is_new] = told_.try_emplace(id, node.desired.revision, now);
             !is_new && at->second.first != node.desired.revision) {
    at->second = {node.desired.revision, now};
  }
}

DesiredMarks::Standing DesiredMarks::standing_of(const std::string& id,
                                                 const DesiredNode& node) const {
  Standing standing{.towards = {.has_component = !node.running.empty()}};
  if (may_be_stopped(node, wish_ && is_told(node, *wish_))) {
    if (const auto next = successor(id, node)) standing.at_gate = next->first;
  }
  // If the desired version was removed, a node that was ordered to move has to keep its version.
  // This is no longer possible once its old version was ordered to stop. The order contains the
  // name of the version to keep, so this name must be valid.
  standing.is_left = is_absent_ && node.claim.revision == 0 && is_under_way(node) &&
                     node.command.record.id != stop_id(node) && is_version_name(node.running);
  if (!wish_) return standing;
  standing.towards = fleet::standing_of(node, *wish_);
  // If the node's new version is not ready in time, the driver orders the node back to the version
  // that it runs. The driver cannot do that if the name of this version is not valid. So in this
  // case there is no time limit, and `standing.coming` stays empty.
  const bool comes = standing.towards.is_under_way &&
                     phase_of(node) != UpgradePhase::cutover_ready && node.claim.revision == 0;
  const auto told = told_.find(id);
  if (comes && told != told_.end() && is_version_name(node.running)) {
    standing.coming = told->second.second;
  }
  return standing;
}

// Adds the node to the counts and lists that `standing` names, or removes the node from them if
// `is_in` is false.
void DesiredMarks::count(const std::string& id, const Standing& standing, bool is_in) {
  counts_.add(standing.towards, is_in ? 1 : -1);
  const auto list = [&](ByTime& times, std::optional<Ms> at) {
    if (at && is_in) times.emplace(*at, id);
    if (at && !is_in) times.erase({*at, id});
  };
  list(coming_, standing.coming);
  list(at_gate_, standing.at_gate);
  beginning_.erase(id);
  waiting_.erase(id);
  left_.erase(id);
  if (is_in && standing.is_left) left_.insert(id);
  if (is_in) list_beginning(id, standing);
}

void DesiredMarks::list_beginning(const std::string& id, const Standing& standing) {
  if (standing.towards.may_begin) (standing.towards.waits ? waiting_ : beginning_).insert(id);
}

std::optional<std::pair<Ms, std::string>> DesiredMarks::successor(const std::string& id,
                                                                  const DesiredNode& node) const {
  const auto seen = ready_.find(id);
  if (seen == ready_.end()) return std::nullopt;
  const std::string_view wanted = without_build(node.desired.record.version);
  if (component_ != own_component) {
    const auto mark = seen->second.find("");
    const bool is_wanted = without_build(node.upgrade.record.to) == wanted;
    if (mark == seen->second.end() || !is_wanted) return std::nullopt;
    return std::pair(mark->second.first, node.upgrade.record.to);
  }
  std::optional<std::pair<Ms, std::string>> first;
  for (const auto& [name, instance] : node.instances) {
    const Instance& record = instance.record;
    if (name == node.active.record.instance || record.boot_id != node.active.record.boot_id ||
        without_build(record.version) != wanted) {
      continue;
    }
    // Only an instance that is ready and not degraded has a mark.
    const auto mark = seen->second.find(name);
    if (mark == seen->second.end()) continue;
    if (!first || mark->second.first < first->first) first = {mark->second.first, name};
  }
  return first;
}

void DesiredMarks::close(const std::string& id, std::optional<Ms> until) {
  closed_[id] = until;
  beginning_.erase(id);
  if (until && (!opens_at_ || *until < *opens_at_)) opens_at_ = until;
}

void DesiredMarks::reopen() {
  for (const auto& [id, until] : closed_) {
    const auto standing = standings_.find(id);
    if (standing != standings_.end()) list_beginning(id, standing->second);
  }
  closed_.clear();
  opens_at_.reset();
}

std::string DesiredMarks::words(Ms now) const {
  std::string text;
  for (const auto& [id, instances] : ready_) {
    for (const auto& [name, mark] : instances)
      text += " " + id + " " + name + " " + std::to_string(now - mark.first);
  }
  for (const auto& [id, mark] : told_)
    text += " " + id + " " + std::to_string(now - mark.second);
  return text;
}

}  // namespace fleet
