#include "fleet/model/bake_suspects.h"

#include <algorithm>

#include "fleet/model/record_text.h"

namespace fleet {
namespace {

// Returns whether the rollout has finished with a node in this stage: the new version is confirmed
// on the node, or the node has failed.
bool has_moved(NodeStage stage) {
  return stage == NodeStage::confirmed || stage == NodeStage::failed;
}

}  // namespace

void BakeSuspects::take(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::node_instance) {
    const auto read = read_record<Instance>(record.value);
    nodes_[key.names[0]][key.names[1]] = read && !read.value().degraded.empty();
  }
  if (key.kind == KeyKind::rollout) {
    const auto read = read_record<Rollout>(record.value);
    if (!read || is_over(read.value().state)) return take_absent(key);
    Watched& rollout = rollouts_[key.names[0]];
    rollout.what = read.value().terms.component + " " + read.value().terms.version;
    rollout.bakes = read.value().state == RolloutState::baking;
  }
  if (key.kind != KeyKind::rollout_node) return;
  // A rollout's record is written, and read, before the records of its nodes. So if the rollout is
  // not in rollouts_, it has ended or its record cannot be read.
  const auto rollout = rollouts_.find(key.names[0]);
  if (rollout == rollouts_.end()) return;
  const auto read = read_record<RolloutNode>(record.value);
  rollout->second.nodes[key.names[1]] = read ? read.value().stage : NodeStage::unknown;
}

void BakeSuspects::take_absent(const ParsedKey& key) {
  if (key.kind == KeyKind::rollout) rollouts_.erase(key.names[0]);
  if (key.kind != KeyKind::node_instance) return;
  const auto node = nodes_.find(key.names[0]);
  if (node == nodes_.end()) return;
  node->second.erase(key.names[1]);
  if (node->second.empty()) nodes_.erase(node);
}

bool BakeSuspects::does_badly(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && std::any_of(found->second.begin(), found->second.end(),
                                              [](const auto& instance) { return instance.second; });
}

std::string BakeSuspects::words(const std::string& node) const {
  std::string text;
  for (const auto& [id, rollout] : rollouts_) {
    const auto own = rollout.nodes.find(node);
    const bool has_kept = own != rollout.nodes.end() && own->second == NodeStage::confirmed;
    if (!rollout.bakes || !has_kept) continue;
    std::size_t mine = 0;
    std::size_t mine_badly = 0;
    for (const auto& [name, stage] : rollout.nodes) {
      if (!has_moved(stage)) continue;
      ++mine;
      if (stage == NodeStage::failed || does_badly(name)) ++mine_badly;
    }
    std::size_t others = 0;
    std::size_t others_badly = 0;
    for (const auto& [name, instances] : nodes_) {
      const auto there = rollout.nodes.find(name);
      if (there != rollout.nodes.end() && has_moved(there->second)) continue;
      ++others;
      if (does_badly(name)) ++others_badly;
    }
    text += suspects_mark + id + " (" + rollout.what +
            "), which bakes: " + std::to_string(mine_badly) + " of its " + std::to_string(mine) +
            " nodes do badly, " + std::to_string(others_badly) + " of " + std::to_string(others) +
            " others";
  }
  return text;
}

}  // namespace fleet
