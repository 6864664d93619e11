#include "fleet/http/cell_state.h"

#include <algorithm>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

bool upgrades(const NodeView& node) {
  for (const auto& [component, upgrade] : node.upgrades) {
    if (is_under_way(upgrade.phase)) return true;
  }
  return false;
}

}  // namespace

std::map<std::string, std::int64_t> CellState::OneRollout::stages() const {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [node, stage] : nodes) {
    ++counts[std::string(text_of(stage))];
  }
  return counts;
}

std::int64_t CellState::OneRollout::node_count() const {
  std::int64_t sum = 0;
  for (const auto& [batch, count] : batches) {
    sum += count;
  }
  return sum;
}

void CellState::take(const KeyValue& record, UnixSeconds now) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (is_of_node(key->kind)) {
    const auto [at, is_new] = nodes_.try_emplace(key->names.front());
    NodeView& node = at->second;
    node.id = at->first;
    if (const auto labels = given_.find(node.id); is_new && labels != given_.end())
      node.take_given(labels->second);
    node.take(*key, record);
    bytes_[node.id][record.key] =
        static_cast<std::int64_t>(record.key.size() + record.value.size());
    if (key->kind == KeyKind::node_upgrade) take_soak(*key, now);
    if (key->kind == KeyKind::node_csr) renewing_.insert(node.id);
    return;
  }
  unread_.erase(record.key);
  take_rollout(*key, record);
  take_identity(*key, record);
  take_join(*key, record);
  take_cell(*key, record);
}

// Records when this controller first saw a new version soak on a node (work there for some time,
// before it is confirmed). Forgets that time when the soak is over.
void CellState::take_soak(const ParsedKey& key, UnixSeconds now) {
  const std::string& node = key.names[0];
  const std::string& component = key.names[1];
  const auto& upgrades = nodes_[node].upgrades;
  const auto upgrade = upgrades.find(component);
  const UpgradePhase phase =
      upgrade == upgrades.end() ? UpgradePhase::unknown : upgrade->second.phase;
  if (phase != UpgradePhase::soaking && phase != UpgradePhase::soaked) {
    const auto soaks = soaks_.find(node);
    if (soaks == soaks_.end()) return;
    soaks->second.erase(component);
    if (soaks->second.empty()) soaks_.erase(soaks);
    return;
  }
  Soak& soak = soaks_[node][component];
  if (soak.since != 0 && soak.attempt == upgrade->second.attempt) return;
  soak = {upgrade->second.attempt, now};
}

const CellState::Soak* CellState::soak(const std::string& node,
                                       const std::string& component) const {
  const auto soaks = soaks_.find(node);
  if (soaks == soaks_.end()) return nullptr;
  const auto soak = soaks->second.find(component);
  return soak == soaks->second.end() ? nullptr : &soak->second;
}

void CellState::take_identity(const ParsedKey& key, const KeyValue& record) {
  if (key.kind != KeyKind::identity) return;
  const std::string name = certificate_name(key.names[0], key.names[1]);
  expiries_.erase(name);
  const auto identity = read_record<Identity>(record.value);
  if (!identity) unread_.insert(record.key);
  if (identity && identity.value().revoked.empty()) expiries_[name] = expiry_of(identity.value());
  take_given(key, identity ? identity.value().labels : std::map<std::string, std::string>{});
}

// Records the labels in a node's identity record.
void CellState::take_given(const ParsedKey& key, const std::map<std::string, std::string>& labels) {
  const auto name = node_identified_by(key);
  if (!name) return;
  given_.erase(*name);
  if (!labels.empty()) given_[*name] = labels;
  if (const auto node = nodes_.find(*name); node != nodes_.end()) node->second.take_given(labels);
}

std::map<std::string, std::string> CellState::given_labels(const std::string& node) const {
  const auto labels = given_.find(node);
  return labels == given_.end() ? std::map<std::string, std::string>{} : labels->second;
}

void CellState::take_join(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::join) keep(joins_, key, record);
  if (key.kind == KeyKind::approval) approvals_.insert(key.names[0]);
  if (key.kind == KeyKind::token) keep(tokens_, key, record);
}

std::map<std::string, JoinRequest> CellState::waiting_machines() const {
  std::map<std::string, JoinRequest> waiting;
  for (const auto& [fingerprint, request] : joins_) {
    const bool is_decided = !request.refused.empty() || approvals_.contains(fingerprint);
    if (request.waits && !is_decided) waiting[fingerprint] = request;
  }
  return waiting;
}

std::vector<std::string> CellState::joining_machines() const {
  std::vector<std::string> names;
  for (const auto& [fingerprint, request] : joins_) {
    if (request.refused.empty()) names.push_back(request.node);
  }
  return names;
}

bool CellState::has_usable_token(UnixSeconds now) const {
  return std::any_of(tokens_.begin(), tokens_.end(), [now](const auto& entry) {
    const Token& token = entry.second;
    return token.revoked.empty() && token.used < token.uses && now < token.expires;
  });
}

template <class Record>
void CellState::keep(std::map<std::string, Record>& records, const ParsedKey& key,
                     const KeyValue& found) {
  const auto record = read_record<Record>(found.value);
  if (record) {
    records[key.names.front()] = record.value();
  } else {
    unread_.insert(found.key);
  }
}

void CellState::take_rollout(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::rollout) {
    const auto rollout = read_record<Rollout>(record.value);
    if (!rollout) unread_.insert(record.key);
    if (rollout) rollouts_[key.names[0]].rollout = rollout.value();
  }
  if (key.kind == KeyKind::rollout_batch) {
    const auto batch = read_record<RolloutBatch>(record.value);
    if (!batch) unread_.insert(record.key);
    if (batch) {
      rollouts_[key.names[0]].batches[key.number()] =
          static_cast<std::int64_t>(batch.value().nodes.size());
    }
  }
  if (key.kind == KeyKind::rollout_node) {
    const auto node = read_record<RolloutNode>(record.value);
    rollouts_[key.names[0]].nodes[key.names[1]] = node ? node.value().stage : NodeStage::unknown;
  }
  if (key.kind == KeyKind::rollout_judge) {
    const auto judge = read_record<RolloutJudge>(record.value);
    if (!judge) unread_.insert(record.key);
    if (judge) rollouts_[key.names[0]].judge = judge.value();
  }
}

void CellState::take_cell(const ParsedKey& key, const KeyValue& record) {
  if (key.kind == KeyKind::plan) keep(plans_, key, record);
  if (key.kind == KeyKind::desired) keep(desired_, key, record);
  if (key.kind == KeyKind::signer) keep(signers_, key, record);
  if (ControllersAtWork::needs(key.kind)) controllers_.take(record);
  if (key.kind == KeyKind::driver) {
    const auto driver = read_record<DriverRecord>(record.value);
    drivers_[key.names[0]] = driver ? driver.value().controller : "";
  }
  if (key.kind == KeyKind::stop) {
    const auto stop = read_record<Stop>(record.value);
    stop_ = stop ? stop.value() : Stop{.why = "the record " + stop.reason()};
  }
  if (key.kind == KeyKind::epoch) {
    const auto epoch = read_record<Epoch>(record.value);
    epoch_ = epoch ? epoch.value() : Epoch{.why = "the record " + epoch.reason()};
  }
  if (key.kind == KeyKind::settings) {
    const auto settings = read_record<Settings>(record.value);
    if (!settings) unread_.insert(record.key);
    settings_ = settings ? settings.value() : Settings{};
  }
}

void CellState::take_absent(const std::string& text) {
  unread_.erase(text);
  const auto key = parse_key(text);
  if (!key) return;
  if (ControllersAtWork::needs(key->kind)) controllers_.take_absent(text);
  if (!is_of_node(key->kind)) return forget(*key);
  const auto node = nodes_.find(key->names.front());
  if (node == nodes_.end()) return;
  node->second.take_absent(*key, text);
  if (key->kind == KeyKind::node_upgrade) take_soak(*key, 0);
  if (key->kind == KeyKind::node_csr) renewing_.erase(node->first);
  auto& bytes = bytes_[node->first];
  bytes.erase(text);
  if (!bytes.empty()) return;
  bytes_.erase(node->first);
  nodes_.erase(node);
}

void CellState::forget(const ParsedKey& key) {
  if (key.kind == KeyKind::rollout) rollouts_.erase(key.names[0]);
  const auto rollout = rollouts_.find(key.names.empty() ? "" : key.names[0]);
  if (rollout != rollouts_.end()) {
    if (key.kind == KeyKind::rollout_node) rollout->second.nodes.erase(key.names[1]);
    if (key.kind == KeyKind::rollout_batch) rollout->second.batches.erase(key.number());
    if (key.kind == KeyKind::rollout_judge) rollout->second.judge.reset();
  }
  if (key.kind == KeyKind::identity) expiries_.erase(certificate_name(key.names[0], key.names[1]));
  take_given(key, {});
  if (key.kind == KeyKind::join) joins_.erase(key.names[0]);
  if (key.kind == KeyKind::approval) approvals_.erase(key.names[0]);
  if (key.kind == KeyKind::token) tokens_.erase(key.names[0]);
  if (key.kind == KeyKind::plan) plans_.erase(key.names[0]);
  if (key.kind == KeyKind::desired) desired_.erase(key.names[0]);
  if (key.kind == KeyKind::signer) signers_.erase(key.names[0]);
  if (key.kind == KeyKind::driver) drivers_.erase(key.names[0]);
  if (key.kind == KeyKind::stop) stop_ = std::nullopt;
  if (key.kind == KeyKind::epoch) epoch_ = std::nullopt;
  if (key.kind == KeyKind::settings) settings_ = {};
}

NodeCount CellState::count() const {
  NodeCount count;
  for (const auto& [id, node] : nodes_) {
    ++count.all;
    if (node.reports()) ++count.reporting;
    if (!node.degraded().empty()) ++count.degraded;
    if (upgrades(node)) ++count.upgrading;
  }
  return count;
}

std::map<std::string, std::map<std::string, std::int64_t>> CellState::versions() const {
  std::map<std::string, std::map<std::string, std::int64_t>> counts;
  for (const auto& [id, node] : nodes_) {
    for (const auto& [component, version] : node.versions.running) {
      ++counts[component][version];
    }
  }
  return counts;
}

std::map<std::string, std::int64_t> CellState::bytes_by_node() const {
  std::map<std::string, std::int64_t> sums;
  for (const auto& [node, keys] : bytes_) {
    for (const auto& [key, bytes] : keys) {
      sums[node] += bytes;
    }
  }
  return sums;
}

std::int64_t CellState::damaged() const {
  auto count = static_cast<std::int64_t>(unread_.size());
  for (const auto& [id, node] : nodes_) {
    count += static_cast<std::int64_t>(node.damage.size());
  }
  return count;
}

// ---- health

bool Health::has_quorum() const {
  const auto good = std::count_if(members.begin(), members.end(), [](const auto& one) {
    return one.second.answers && one.second.status.has_leader;
  });
  return 2 * good > static_cast<std::ptrdiff_t>(members.size());
}

bool Health::has_no_space() const {
  return std::any_of(members.begin(), members.end(), [](const auto& one) {
    const auto& errors = one.second.status.errors;
    return std::any_of(errors.begin(), errors.end(), [](const std::string& error) {
      return error.find("NOSPACE") != std::string::npos;
    });
  });
}

}  // namespace fleet
