#include "fleet/model/rollouts/rollout_view.h"

#include <algorithm>
#include <charconv>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Parses a record. If the record cannot be read, returns an empty record, and sets `damage` to the
// reason.
template <class Record>
Record record_of(const std::string* text, std::string& damage) {
  if (text == nullptr) return {};
  const Result<Record> record = read_record<Record>(*text);
  if (record) return record.value();
  damage = "its record " + record.reason();
  return {};
}

Stand error_stand(const std::string& result) {
  if (result == result_interrupted) return {Standing::interrupted, "interrupted"};
  return {Standing::failed, result.empty() ? "failed without a word" : result};
}

Stand prepare_stand(const NodeSight& sight) {
  if (sight.answer.command != sight.node.command) return {Standing::pending};
  if (sight.answer.result == result_done) return {Standing::ready};
  return error_stand(sight.answer.result);
}

// Returns how far the node has come with the upgrade that this rollout began on it. Returns
// `pending` if this upgrade has not begun, or is under way and its soak is not over.
Stand upgrade_stand(const NodeSight& sight, const RolloutView& view) {
  if (!is_upgrade_of(view, sight)) return {Standing::pending};
  switch (sight.upgrade.phase) {
    case UpgradePhase::failed:
      return {Standing::failed, sight.upgrade.error};
    case UpgradePhase::unconfirmed:
      return {Standing::unconfirmed, "went back: no confirmation came in time"};
    case UpgradePhase::rolled_back:
      return {Standing::rolled_back};
    case UpgradePhase::done:
      return {Standing::confirmed};
    case UpgradePhase::soaked:
      return {Standing::ready};
    case UpgradePhase::unknown:
    case UpgradePhase::staging:
    case UpgradePhase::verifying:
    case UpgradePhase::cutover_ready:
    case UpgradePhase::soaking:
      return {Standing::pending};
  }
  return {Standing::pending};
}

Stand apply_stand(const NodeSight& sight, const RolloutView& view) {
  const bool answered = sight.answer.command == sight.node.command;
  // Read the record of the upgrade before the answer to the command: the new version may be active
  // even if the answer was lost.
  const Stand stand = upgrade_stand(sight, view);
  if (stand.what != Standing::pending) return stand;
  if (!answered || sight.answer.result == result_done) return {Standing::pending};
  const std::string& wanted = sight.node.undo ? sight.node.before : view.rollout->terms.version;
  const bool soaking = is_upgrade_of(view, sight) && sight.upgrade.phase == UpgradePhase::soaking &&
                       is_same_version(sight.running, wanted);
  if (sight.answer.result == result_interrupted && soaking) return {Standing::pending};
  return error_stand(sight.answer.result);
}

Stand confirm_stand(const NodeSight& sight, const RolloutView& view) {
  const Stand stand = upgrade_stand(sight, view);
  if (stand.what != Standing::pending && stand.what != Standing::ready) return stand;
  if (sight.answer.command != sight.node.command) return {Standing::pending};
  if (sight.answer.result == result_done) return {Standing::confirmed};
  return error_stand(sight.answer.result);
}

Stand rollback_stand(const NodeSight& sight, const RolloutView& view) {
  const Stand stand = upgrade_stand(sight, view);
  if (stand.what == Standing::confirmed || stand.what == Standing::failed ||
      stand.what == Standing::rolled_back) {
    return stand;
  }
  if (stand.what == Standing::unconfirmed) return {Standing::rolled_back};
  if (sight.answer.command != sight.node.command) return {Standing::pending};
  if (sight.answer.result == result_done) return {Standing::rolled_back};
  if (sight.answer.result == result_committed) {
    // The node answers that an upgrade is committed that a rollout of this name has ordered. After
    // a restore of the store, this may be an earlier rollout of the same name, which the store has
    // lost. Then this rollout has not upgraded the node, so the node counts as rolled back.
    const bool is_of_lost = !id_end(view, sight).empty() && !is_upgrade_of(view, sight);
    return {is_of_lost ? Standing::rolled_back : Standing::confirmed};
  }
  return error_stand(sight.answer.result);
}

// Returns the state of a node whose undo has not begun, or `ended` if nothing has to be undone. The
// undo concerns each node that was ordered to `apply` and reports the new version. It also concerns
// a confirmed node that reports the old version or none, since this report may be older than the
// commit of the new version.
Stand undo_stand(const NodeSight& sight, const RolloutView& view) {
  const std::string& version = view.rollout->terms.version;
  const bool is_late = sight.node.stage == NodeStage::confirmed &&
                       (sight.running.empty() || is_same_version(sight.running, sight.node.before));
  const bool runs_it = sight.node.applied && (is_late || is_same_version(sight.running, version));
  if (!is_undoing(view) || !runs_it || is_same_version(sight.node.before, version)) {
    return {Standing::ended};
  }
  if (sight.node.before.empty()) {
    return {Standing::failed, "nobody knows which version it ran before"};
  }
  if (!is_version_name(sight.node.before)) {
    return {Standing::failed, "it ran " + sight.node.before + ", which is no name of a version"};
  }
  if (!sight.claimed_by.empty() && sight.claimed_by != claim_of(view)) {
    return {Standing::left, "claimed by " + sight.claimed_by};
  }
  return {Standing::waiting};
}

// Returns the state of a node that went back because the judge or a gate gave no verdict. If its
// batch is done again, the state is `waiting`, or `claimed` while another rollout or a person moves
// the node. Otherwise the state is `ended`.
Stand again_stand(const NodeSight& sight, const RolloutView& view) {
  if (view.rollout->state != RolloutState::rolling) return undo_stand(sight, view);
  if (sight.node.again >= view.rollout->again) return {Standing::ended};
  if (!sight.claimed_by.empty() && sight.claimed_by != claim_of(view)) {
    return {Standing::left, "claimed by " + sight.claimed_by};
  }
  return {Standing::waiting};
}

// Returns the state of the node, even if it was removed from the cell.
Stand stand_by_records(const RolloutView& view, const NodeSight& sight) {
  switch (sight.node.stage) {
    case NodeStage::unknown:
      return {Standing::failed, "its stage is not known to this program"};
    case NodeStage::waiting:
      if (is_undoing(view)) return {Standing::ended};
      if (!sight.claimed_by.empty() && sight.claimed_by != claim_of(view)) {
        return {Standing::left, "claimed by " + sight.claimed_by};
      }
      return {Standing::waiting};
    case NodeStage::preparing:
      return prepare_stand(sight);
    case NodeStage::applying:
      return apply_stand(sight, view);
    case NodeStage::confirming:
      return confirm_stand(sight, view);
    case NodeStage::rolling_back:
      return rollback_stand(sight, view);
    case NodeStage::confirmed:
    case NodeStage::failed:
    case NodeStage::unconfirmed:
    case NodeStage::rolled_back:
    case NodeStage::left:
      return undo_stand(sight, view);
    case NodeStage::not_judged:
      return again_stand(sight, view);
    case NodeStage::undone:
    case NodeStage::kept:
      return {Standing::ended};
  }
  return {Standing::ended};
}

}  // namespace

std::int64_t turn_of(const Rollout& rollout) {
  if (rollout.state != RolloutState::undoing) {
    return rollout.batch + rollout.again * (rollout.batches + 1);
  }
  return -2 - (rollout.undo_now ? rollout.batches : rollout.batch);
}

bool is_undoing(const RolloutView& view) {
  return view.rollout && view.rollout->state == RolloutState::undoing;
}

std::string id_end(const RolloutView& view) {
  if (view.restored == 0 || view.created < view.restored || !view.rollout) return "";
  const std::string life = view.rollout->trace.substr(0, life_bytes);
  return is_command_id(life) ? "." + life : "";
}

std::string id_end(const RolloutView& view, const NodeSight& sight) {
  const std::string end = id_end(view);
  const std::string& last = sight.node.command;
  return last.empty() || last.ends_with(end) ? end : "";
}

std::string claim_of(const RolloutView& view) {
  return "rollout/" + view.id;
}

const std::vector<std::string>& RolloutView::batch() const {
  static const std::vector<std::string> none;
  if (!rollout) return none;
  if (is_undoing(*this) && rollout->undo_now) return everyone;
  const auto found = batches.find(rollout->batch);
  return found == batches.end() ? none : found->second;
}

const NodeSight& RolloutView::sight(const std::string& node) const {
  static const NodeSight none;
  const auto found = nodes.find(node);
  return found == nodes.end() ? none : found->second;
}

void RolloutView::take(const KeyValue& record) {
  if (record.key == key_of(KeyKind::rollout, {id})) {
    revision = record.modified;
    // After a write by the driver itself, the caller does not know at which revision the record was
    // created, and passes 0. In this case, keep the revision that is known already.
    if (record.created != 0) created = record.created;
  }
  if (record.key == key_of(KeyKind::epoch)) restored = record.created;
  if (rollout && record.key == key_of(KeyKind::desired, {rollout->terms.component}))
    wish_revision = record.modified;
  take_text(record.key, &record.value, record.modified);
}

void RolloutView::take_absent(const std::string& key) {
  if (key == key_of(KeyKind::rollout, {id})) revision = created = 0;
  if (key == key_of(KeyKind::epoch)) restored = 0;
  if (rollout && key == key_of(KeyKind::desired, {rollout->terms.component})) wish_revision = 0;
  take_text(key, nullptr, 0);
}

void RolloutView::take_all(const Reading& reading) {
  RolloutView fresh{.id = id};
  // Read the rollout's own records first: they show which other records matter.
  const std::string own = key_of(KeyKind::rollout, {id});
  for (const KeyValue& record : reading.found) {
    if (record.key.starts_with(own)) fresh.take(record);
  }
  for (const KeyValue& record : reading.found) {
    if (!record.key.starts_with(own)) fresh.take(record);
  }
  *this = std::move(fresh);
}

void RolloutView::take_rollout(const std::string* text) {
  rollout.reset();
  if (text == nullptr) return;
  Result<Rollout> read = read_record<Rollout>(*text);
  if (read) {
    rollout = std::move(read.value());
  } else {
    damage = "rollout/" + id + " " + read.reason();
  }
}

void RolloutView::take_batch(std::int64_t number, const std::string* text) {
  batches[number] = record_of<RolloutBatch>(text, damage).nodes;
  everyone.clear();
  for (const auto& [other, nodes_of_it] : batches)
    everyone.insert(everyone.end(), nodes_of_it.begin(), nodes_of_it.end());
  std::sort(everyone.begin(), everyone.end());
}

void RolloutView::take_text(const std::string& key, const std::string* text, Revision modified) {
  const std::optional<ParsedKey> parsed = parse_key(key);
  if (!parsed) return;
  const std::vector<std::string>& names = parsed->names;
  if (parsed->kind == KeyKind::stop) stopped = text != nullptr;
  if (parsed->kind == KeyKind::rollout && names[0] == id) take_rollout(text);
  if (parsed->kind == KeyKind::rollout_batch && names[0] == id)
    take_batch(static_cast<std::int64_t>(parsed->number()), text);
  if (parsed->kind == KeyKind::rollout_node && names[0] == id) {
    nodes[names[1]].node = record_of<RolloutNode>(text, damage);
  }
  if (parsed->kind == KeyKind::desired && rollout && names[0] == rollout->terms.component) {
    std::string wrong;
    const Desired record = record_of<Desired>(text, wrong);
    wish = text == nullptr || !wrong.empty() ? std::nullopt : std::optional(record);
  }
  take_of_node(*parsed, text, modified);
}

void RolloutView::take_of_node(const ParsedKey& key, const std::string* text, Revision modified) {
  const std::vector<std::string>& names = key.names;
  std::string wrong;
  if (key.kind == KeyKind::node_versions) {
    const auto versions = record_of<Versions>(text, wrong);
    const auto found =
        rollout ? versions.running.find(rollout->terms.component) : versions.running.end();
    nodes[names[0]].running = found == versions.running.end() ? "" : found->second;
  }
  if (key.kind == KeyKind::node_active) nodes[names[0]].is_in_cell = text != nullptr;
  if (key.kind == KeyKind::node_instance) {
    auto& instances = nodes[names[0]].instances;
    if (text == nullptr) {
      instances.erase(names[1]);
    } else {
      instances.insert(names[1]);
    }
  }
  // Until the rollout's own record is read, its component is not known, so the records of all
  // components are kept.
  if (names.size() < 2 || (rollout && names[1] != rollout->terms.component)) return;
  if (key.kind == KeyKind::node_answer) {
    nodes[names[0]].answer = record_of<Answer>(text, wrong);
    // An answer that cannot be read counts as a failure of the node's last command.
    if (!wrong.empty()) nodes[names[0]].answer = {nodes[names[0]].node.command, wrong, ""};
  }
  if (key.kind == KeyKind::node_upgrade) nodes[names[0]].upgrade = record_of<Upgrade>(text, wrong);
  if (key.kind == KeyKind::node_desired) {
    const Desired record = record_of<Desired>(text, wrong);
    nodes[names[0]].desired =
        text == nullptr || !wrong.empty() ? std::nullopt : std::optional(record);
    nodes[names[0]].desired_revision = modified;
  }
  if (key.kind == KeyKind::node_claim) {
    nodes[names[0]].claimed_by = record_of<Claim>(text, wrong).by;
    if (!wrong.empty()) nodes[names[0]].claimed_by = "somebody: " + wrong;
    // A claim may lack the name of the rollout or person that moves the node. Even such a claim
    // keeps this rollout from moving the node, so `claimed_by` must not be empty.
    if (text != nullptr && nodes[names[0]].claimed_by.empty()) {
      nodes[names[0]].claimed_by = "somebody";
    }
  }
}

bool is_upgrade_of(const RolloutView& view, const NodeSight& sight) {
  const std::string begin = view.id + (sight.node.undo ? ".undo-apply." : ".apply.");
  std::string_view number = sight.upgrade.attempt;
  if (!number.starts_with(begin)) return false;
  number.remove_prefix(begin.size());
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  const std::string last = id_end(view, sight);
  const std::string_view rest(end, number.data() + number.size());
  return error == std::errc{} && count > sight.node.again * attempts_max &&
         (last.empty() || rest == last);
}

Stand stand_of(const RolloutView& view, const NodeSight& sight) {
  Stand stand = stand_by_records(view, sight);
  const bool is_awaited = stand.what == Standing::waiting || stand.what == Standing::pending;
  if (is_awaited && !sight.is_in_cell) return {Standing::left, "was removed from the cell"};
  return stand;
}

std::vector<Capsule> evidence_of(const RolloutView& view, const std::string& node) {
  const NodeSight& sight = view.sight(node);
  const bool has_begun = is_upgrade_of(view, sight) && sight.upgrade.phase == UpgradePhase::failed;
  if (has_begun) return sight.upgrade.evidence;
  return sight.answer.command == sight.node.command ? sight.answer.evidence
                                                    : std::vector<Capsule>{};
}

}  // namespace fleet
