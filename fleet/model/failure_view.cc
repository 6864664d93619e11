#include "fleet/model/failure_view.h"

#include <utility>

#include "fleet/model/enum_text.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_archive.h"
#include "fleet/model/record_members.h"
#include "fleet/model/record_text.h"

namespace fleet {

// The names of members in JSON are those of fleetctl(1).
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
  RecordWriter archive;
  archive.write_member("failures", groups);
  return "{" + archive.members() + "}";
}

}  // namespace fleet
