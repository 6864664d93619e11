#include "fleet/model/reasons/failure_causes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_archive.h"
#include "fleet/model/records/record_members.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_of_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Returns the word with `#` instead of each number. A word of six or more hexadecimal digits with
// at least one from 0 to 9 is an id or an address: for such a word, returns `#`.
std::string word_likeness(std::string_view word) {
  constexpr std::size_t id_bytes = 6;
  if (word.starts_with("0x")) word.remove_prefix(2);
  const bool has_digit = std::any_of(word.begin(), word.end(), is_digit);
  if (word.size() >= id_bytes && has_digit && std::all_of(word.begin(), word.end(), is_hex)) {
    return "#";
  }
  std::string like;
  for (const char c : word) {
    if (!is_digit(c)) like += c;
    if (is_digit(c) && !like.ends_with('#')) like += '#';
  }
  return like;
}

bool is_telling(std::string_view before) {
  return before.ends_with("status ") || before.ends_with("signal ") || before.ends_with("http: ");
}

// The key of a failure. Failures with the same key belong to one group.
using Key = std::tuple<NodeStage, std::string, std::int64_t, std::int64_t, std::string>;

Key key_of_failure(const std::string& id, const RolloutNode& node) {
  const Capsule none{};
  const Capsule& capsule = node.evidence.empty() ? none : node.evidence.front();
  return {node.stage, capsule.stage, capsule.exit_status, capsule.signal, likeness(node.error, id)};
}

struct Tally {
  std::int64_t failed = 0;
  std::int64_t others = 0;
};

// Returns whether a mark (a fact or a label with its value) may be connected with the failures of a
// group of `failed` nodes: at least nine of ten nodes in the group have the mark, and at most half
// of the nodes outside the group have it.
bool is_suspect(const Suspect& mark, std::int64_t failed) {
  return mark.failed * 10 >= failed * 9 && mark.others * 2 <= mark.others_in_all;
}

// Returns whether the mark `one` distinguishes the group better than the mark `other`: fewer nodes
// outside the group have `one` or, if these numbers are equal, more nodes in the group have `one`.
bool is_stronger(const Suspect& one, const Suspect& other) {
  return std::tuple(-one.others, one.failed, other.mark) >
         std::tuple(-other.others, other.failed, one.mark);
}

void find_suspects(FailureGroup& group, const NodesOfRollout& nodes) {
  std::map<std::string, Tally> shares;
  std::int64_t others = 0;
  for (const auto& [id, node] : nodes) {
    const bool is_ours = std::binary_search(group.nodes.begin(), group.nodes.end(), id);
    const bool has_begun =
        node.record.stage != NodeStage::waiting && node.record.stage != NodeStage::left;
    if (!is_ours && !has_begun) continue;
    if (!is_ours) ++others;
    for (const auto& [name, value] : node.marks) {
      Tally& share = shares[name + "=" + value];
      ++(is_ours ? share.failed : share.others);
    }
  }
  group.is_everybody = others == 0;
  // A group of one node gets no suspects: few other nodes have the same facts and labels, so each
  // of them would be a suspect.
  if (others == 0 || group.nodes.size() < 2) return;
  for (const auto& [mark, share] : shares) {
    const Suspect suspect{mark, share.failed, share.others, others};
    if (is_suspect(suspect, static_cast<std::int64_t>(group.nodes.size())))
      group.suspects.push_back(suspect);
  }
  std::sort(group.suspects.begin(), group.suspects.end(), is_stronger);
  if (group.suspects.size() > suspects_max) group.suspects.resize(suspects_max);
}

// Returns whether a node in this stage has ended its part in the rollout, because the new version
// is confirmed on the node or has failed there.
bool has_moved(NodeStage stage) {
  return stage == NodeStage::confirmed || stage == NodeStage::failed;
}

}  // namespace

bool has_failed(const RolloutNode& node) {
  return node.stage == NodeStage::failed || node.stage == NodeStage::kept ||
         node.stage == NodeStage::unconfirmed;
}

std::string likeness(std::string_view words, std::string_view node) {
  std::string like;
  for (std::size_t at = 0; at < words.size();) {
    const bool begins = at == 0 || !is_of_word(words[at - 1]);
    const bool is_node = begins && !node.empty() && words.substr(at).starts_with(node) &&
                         (at + node.size() == words.size() || !is_of_word(words[at + node.size()]));
    if (is_node) {
      like += "NODE";
      at += node.size();
      continue;
    }
    std::size_t end = at;
    while (end < words.size() && is_of_word(words[end]))
      ++end;
    const std::string_view word = words.substr(at, std::max<std::size_t>(1, end - at));
    like += is_telling(words.substr(0, at)) ? std::string(word) : word_likeness(word);
    at += word.size();
  }
  return like;
}

std::vector<FailureGroup> failure_groups(const NodesOfRollout& nodes) {
  std::map<Key, FailureGroup> found;
  for (const auto& [id, node] : nodes) {
    if (!has_failed(node.record)) continue;
    FailureGroup& group = found[key_of_failure(id, node.record)];
    if (group.nodes.empty()) {
      group.stage = node.record.stage;
      group.error = node.record.error;
    }
    if (group.evidence.empty()) group.evidence = node.record.evidence;
    group.nodes.push_back(id);
  }
  std::vector<FailureGroup> groups;
  for (auto& [key, group] : found) {
    find_suspects(group, nodes);
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const FailureGroup& one, const FailureGroup& other) {
                     return one.nodes.size() > other.nodes.size();
                   });
  return groups;
}

// Names the members of the structure as in the JSON output that fleetctl(1) documents.
template <class Archive>
void serialize(Archive& archive, Suspect& suspect) {
  using cereal::make_nvp;
  archive(make_nvp("mark", suspect.mark), make_nvp("failed", suspect.failed),
          make_nvp("others", suspect.others), make_nvp("others_in_all", suspect.others_in_all));
}

template <class Archive>
void serialize(Archive& archive, FailureGroup& group) {
  using cereal::make_nvp;
  archive(make_nvp("stage", group.stage), make_nvp("error", group.error),
          make_nvp("evidence", group.evidence), make_nvp("nodes", group.nodes),
          make_nvp("suspects", group.suspects), make_nvp("is_everybody", group.is_everybody));
}

NodesOfRollout nodes_of_rollout(const Reading& reading, const std::string& rollout) {
  NodesOfRollout nodes;
  for (const KeyValue& found : reading.found) {
    const auto key = parse_key(found.key);
    if (!key || key->kind != KeyKind::rollout_node || key->names[0] != rollout) continue;
    const auto record = read_record<RolloutNode>(found.value);
    if (!record) continue;
    NodeOfRollout& node = nodes[key->names[1]];
    node.record = record.value();
    if (!node.record.before.empty()) node.marks["before"] = node.record.before;
  }
  for (const NodeView& view : nodes_in(reading)) {
    const auto node = nodes.find(view.id);
    if (node == nodes.end()) continue;
    node->second.marks.insert(view.info.labels.begin(), view.info.labels.end());
    node->second.marks.insert(view.info.facts.begin(), view.info.facts.end());
  }
  return nodes;
}

std::string failures_json(const std::vector<FailureGroup>& groups) {
  if (groups.empty()) return R"({"failures":[]})";
  RecordWriter archive;
  archive.write_member("failures", groups);
  return "{" + archive.members() + "}";
}

// ---- a degraded node

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
  // The record of a rollout always comes before the records of its nodes. So if the rollout is not
  // in rollouts_, the rollout has ended, or its record cannot be read.
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
