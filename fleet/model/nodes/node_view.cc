#include "fleet/model/nodes/node_view.h"

#include <utility>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/releases/release_list.h"

namespace fleet {
namespace {

template <class Record>
void take_text(const KeyValue& found, Record& record, NodeView& node) {
  node.damage.erase(found.key);
  const auto read = read_record<Record>(found.value);
  if (read) {
    record = read.value();
  } else {
    node.damage[found.key] = read.reason();
  }
}

}  // namespace

bool is_of_node(KeyKind kind) {
  return kind <= KeyKind::node_control;
}

std::string NodeView::degraded() const {
  for (const auto& [instance_id, instance] : instances) {
    if (!instance.degraded.empty()) return instance.degraded;
  }
  return "";
}

void NodeView::take_given(const std::map<std::string, std::string>& labels) {
  given = labels;
  info.labels = given;
  info.labels.insert(reported.begin(), reported.end());
}

void NodeView::take(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::node_info) {
    info.labels = reported;
    take_text(record, info, *this);
    reported = info.labels;
    take_given(given);
  }
  if (key.kind == KeyKind::node_versions) take_text(record, versions, *this);
  if (key.kind == KeyKind::node_active) take_text(record, active, *this);
  if (key.kind == KeyKind::node_instance) take_text(record, instances[key.names[1]], *this);
  if (key.kind == KeyKind::node_upgrade) take_text(record, upgrades[key.names[1]], *this);
  if (key.kind == KeyKind::node_health) take_text(record, healths[key.names[1]], *this);
  if (key.kind == KeyKind::node_desired) {
    const auto read = read_record<Desired>(record.value);
    desired[key.names[1]] = {read ? read.value() : Desired{}, record.modified};
  }
  if (key.kind == KeyKind::node_claim) {
    const auto read = read_record<Claim>(record.value);
    claims[key.names[1]] = read ? read.value().by : "";
  }
}

void NodeView::take_absent(const ParsedKey& key, std::string_view text) {
  damage.erase(std::string(text));
  if (key.kind == KeyKind::node_info) {
    info = {};
    reported.clear();
    take_given(given);
  }
  if (key.kind == KeyKind::node_versions) versions = {};
  if (key.kind == KeyKind::node_active) active = {};
  if (key.kind == KeyKind::node_instance) instances.erase(key.names[1]);
  if (key.kind == KeyKind::node_upgrade) upgrades.erase(key.names[1]);
  if (key.kind == KeyKind::node_health) healths.erase(key.names[1]);
  if (key.kind == KeyKind::node_desired) desired.erase(key.names[1]);
  if (key.kind == KeyKind::node_claim) claims.erase(key.names[1]);
}

DesiredNode desired_node(const NodeView& node, const std::string& component) {
  DesiredNode found;
  const auto running = node.versions.running.find(component);
  if (running != node.versions.running.end()) found.running = running->second;
  if (!node.active.instance.empty()) found.active = {node.active, 1};
  for (const auto& [id, instance] : node.instances)
    found.instances[id] = {instance, 1};
  const auto upgrade = node.upgrades.find(component);
  if (upgrade != node.upgrades.end()) found.upgrade = {upgrade->second, 1};
  const auto desired = node.desired.find(component);
  if (desired != node.desired.end()) found.desired = desired->second;
  if (node.claims.contains(component)) found.claim.revision = 1;
  return found;
}

std::string words_of(UpgradePhase phase) {
  if (phase == UpgradePhase::cutover_ready) return "ready, waits for its turn";
  return std::string(text_of(phase));
}

std::vector<NodeView> nodes_in(const Reading& reading) {
  std::map<std::string, NodeView> nodes;
  for (const KeyValue& found : reading.found) {
    const auto key = parse_key(found.key);
    if (!key || !is_of_node(key->kind)) continue;
    NodeView& node = nodes[key->names.front()];
    node.id = key->names.front();
    node.take(*key, found);
  }
  for (const KeyValue& found : reading.found) {
    if (!found.key.starts_with(node_identities())) continue;
    const auto key = parse_key(found.key);
    const auto name = key ? node_identified_by(*key) : std::nullopt;
    const auto node = name ? nodes.find(*name) : nodes.end();
    if (node != nodes.end()) node->second.take_given(labels_given(found));
  }
  std::vector<NodeView> list;
  for (auto& [id, node] : nodes) {
    list.push_back(std::move(node));
  }
  return list;
}

std::string who_runs_newer(const std::vector<NodeView>& nodes, const std::string& component,
                           const std::string& version) {
  std::vector<std::string> newer;
  for (const NodeView& node : nodes) {
    const auto at = node.versions.running.find(component);
    if (at == node.versions.running.end() || compare_versions(at->second, version) <= 0) continue;
    newer.push_back(node.id + " (" + at->second + ")");
  }
  return listed(newer);
}

std::optional<std::string> silent_at_gate_since(const NodeView& node, const std::string& component,
                                                const std::string& version) {
  const auto upgrade = node.upgrades.find(component);
  if (upgrade == node.upgrades.end() || node.reports()) return std::nullopt;
  const Upgrade& last = upgrade->second;
  if (last.phase != UpgradePhase::cutover_ready || last.to != version) return std::nullopt;
  return last.changed;
}

std::string silent_at_gates(const std::map<std::string, std::string>& silent) {
  std::vector<std::string> texts;
  for (const auto& [node, since] : silent)
    texts.push_back(node + " (since " + since + ")");
  return "these nodes do not report, and their new version waits to be activated: " + listed(texts);
}

TargetNode target_node(const NodeView& node) {
  return {.id = node.id, .info = node.info, .reports = node.reports()};
}

std::vector<TargetNode> target_nodes(const std::vector<NodeView>& nodes) {
  std::vector<TargetNode> targets;
  for (const NodeView& node : nodes) {
    targets.push_back(target_node(node));
  }
  return targets;
}

}  // namespace fleet
