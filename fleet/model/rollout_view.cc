#include "fleet/model/rollout_view.h"

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Parses a record of a node. If an answer or a phase cannot be read, that is an error of this node
// alone.
template <class Record>
Record record_of(const std::string* text, std::string& damage) {
  if (text == nullptr) return {};
  const Result<Record> record = read_record<Record>(*text);
  if (record) return record.value();
  damage = "its record " + record.reason();
  return {};
}

bool is_of(const std::string& command, const RolloutView& view, std::string_view step) {
  return command.starts_with(view.id + "." + std::string(step) + ".");
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

// Returns the state of the upgrade that this rollout has begun, or pending if the upgrade has not
// ended.
Stand upgrade_stand(const NodeSight& sight, const RolloutView& view) {
  if (!is_of(sight.upgrade.attempt, view, "apply")) return {Standing::pending};
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
    case UpgradePhase::prepared:
    case UpgradePhase::cutover_ready:
    case UpgradePhase::soaking:
      return {Standing::pending};
  }
  return {Standing::pending};
}

Stand apply_stand(const NodeSight& sight, const RolloutView& view) {
  const bool answered = sight.answer.command == sight.node.command;
  // The new version may be at work even if the answer was lost on its way.
  const Stand stand = upgrade_stand(sight, view);
  if (stand.what != Standing::pending) return stand;
  if (!answered || sight.answer.result == result_done) return {Standing::pending};
  const bool soaking = is_of(sight.upgrade.attempt, view, "apply") &&
                       sight.upgrade.phase == UpgradePhase::soaking &&
                       sight.running == view.rollout->terms.version;
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
  if (sight.answer.result == result_committed) return {Standing::confirmed};
  return error_stand(sight.answer.result);
}

}  // namespace

std::string claim_of(const RolloutView& view) {
  return "rollout/" + view.id;
}

const std::vector<std::string>& RolloutView::batch() const {
  static const std::vector<std::string> none;
  if (!rollout) return none;
  const auto found = batches.find(rollout->batch);
  return found == batches.end() ? none : found->second;
}

NodeSight RolloutView::sight(const std::string& node) const {
  const auto found = nodes.find(node);
  return found == nodes.end() ? NodeSight{} : found->second;
}

void RolloutView::take(const KeyValue& record) {
  if (record.key == key_of(KeyKind::rollout, {id})) revision = record.modified;
  take_text(record.key, &record.value);
}

void RolloutView::take_absent(const std::string& key) {
  if (key == key_of(KeyKind::rollout, {id})) revision = 0;
  take_text(key, nullptr);
}

void RolloutView::take_all(const Reading& reading) {
  RolloutView fresh{.id = id};
  // The rollout's own records come first: they tell which of the nodes' records matter.
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

void RolloutView::take_text(const std::string& key, const std::string* text) {
  const std::optional<ParsedKey> parsed = parse_key(key);
  if (!parsed) return;
  const std::vector<std::string>& names = parsed->names;
  const auto is_ours = [&] {
    // if the rollout itself is not read yet, the record may matter
    return !rollout || names[1] == rollout->terms.component;
  };
  std::string wrong;
  if (parsed->kind == KeyKind::stop) stopped = text != nullptr;
  if (parsed->kind == KeyKind::rollout && names[0] == id) take_rollout(text);
  if (parsed->kind == KeyKind::rollout_batch && names[0] == id) {
    const auto batch = record_of<RolloutBatch>(text, damage);
    batches[static_cast<std::int64_t>(parsed->number())] = batch.nodes;
  }
  if (parsed->kind == KeyKind::rollout_node && names[0] == id) {
    nodes[names[1]].node = record_of<RolloutNode>(text, damage);
  }
  if (parsed->kind == KeyKind::node_versions) {
    const auto versions = record_of<Versions>(text, wrong);
    const auto found =
        rollout ? versions.running.find(rollout->terms.component) : versions.running.end();
    nodes[names[0]].running = found == versions.running.end() ? "" : found->second;
  }
  if (parsed->kind == KeyKind::node_answer && is_ours()) {
    nodes[names[0]].answer = record_of<Answer>(text, wrong);
    // An answer that cannot be read is no success, whichever command it belongs to.
    if (!wrong.empty()) nodes[names[0]].answer = {nodes[names[0]].node.command, wrong, ""};
  }
  if (parsed->kind == KeyKind::node_upgrade && is_ours()) {
    nodes[names[0]].upgrade = record_of<Upgrade>(text, wrong);
  }
  if (parsed->kind == KeyKind::node_claim && is_ours()) {
    nodes[names[0]].claimed_by = record_of<Claim>(text, wrong).by;
    if (!wrong.empty()) nodes[names[0]].claimed_by = "somebody: " + wrong;
    // A claim that names nobody still counts as a claim: no other is written beside it.
    if (text != nullptr && nodes[names[0]].claimed_by.empty()) {
      nodes[names[0]].claimed_by = "somebody";
    }
  }
}

Stand stand_of(const RolloutView& view, const std::string& node) {
  const NodeSight sight = view.sight(node);
  switch (sight.node.stage) {
    case NodeStage::unknown:
      return {Standing::failed, "its stage is not known to this program"};
    case NodeStage::waiting:
      if (!sight.claimed_by.empty() && sight.claimed_by != claim_of(view)) {
        return {Standing::claimed, "claimed by " + sight.claimed_by};
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
      return {Standing::ended};
  }
  return {Standing::ended};
}

}  // namespace fleet
