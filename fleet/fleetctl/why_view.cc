#include "fleet/fleetctl/why_view.h"

#include <utility>

#include "base/moment.h"
#include "fleet/model/enum_text.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_archive.h"
#include "fleet/model/record_brief.h"
#include "fleet/model/record_members.h"
#include "fleet/model/record_text.h"

// The names of members in JSON are those of fleetctl(1).
namespace fleet {

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

}  // namespace fleet

namespace fleetctl {
namespace {

using fleet::KeyKind;

std::string duration(std::int64_t ms) {
  return upgraderctl::show_duration(upgraderctl::Duration{ms});
}

void add(std::string& words, const std::string& more) {
  words += (words.empty() ? "" : ", ") + more;
}

std::string count_of(std::size_t nodes) {
  return std::to_string(nodes) + (nodes == 1 ? " node " : " nodes ");
}

std::string suspect_words(const fleet::Suspect& suspect, std::size_t nodes) {
  return suspect.mark + ": " + std::to_string(suspect.failed) + " of these " +
         std::to_string(nodes) + ", and " + std::to_string(suspect.others) + " of the other " +
         std::to_string(suspect.others_in_all);
}

std::vector<std::string> paragraph(const fleet::FailureGroup& group) {
  std::vector<std::string> lines{count_of(group.nodes.size()) + std::string(text_of(group.stage)) +
                                 ": " + group.error};
  lines.push_back("  nodes: " + fleet::listed(group.nodes));
  for (const fleet::Capsule& capsule : group.evidence) {
    if (!capsule.stage.empty()) lines.push_back("  stage: " + capsule.stage);
    const std::string measured = measured_words(capsule);
    if (!measured.empty()) lines.push_back("  " + measured);
    for (const std::string& differs : capsule.differs)
      lines.push_back("  differs: " + differs);
    for (const std::string& line : capsule.lines)
      lines.push_back("  wrote: " + line);
  }
  for (const fleet::Suspect& suspect : group.suspects)
    lines.push_back("  suspect: " + suspect_words(suspect, group.nodes.size()));
  if (group.is_everybody)
    lines.emplace_back("  suspect: the version itself: every node that has begun failed so");
  return lines;
}

}  // namespace

std::string measured_words(const fleet::Capsule& capsule) {
  std::string words;
  if (capsule.exit_status >= 0) add(words, "exit status " + std::to_string(capsule.exit_status));
  if (capsule.signal > 0) add(words, "signal " + std::to_string(capsule.signal));
  if (capsule.lived_ms >= 0) add(words, "lived " + duration(capsule.lived_ms));
  constexpr std::int64_t kib_a_mib = 1'024;
  if (capsule.peak_kib >= 0) {
    add(words, "memory " + std::to_string((capsule.peak_kib + kib_a_mib - 1) / kib_a_mib) + " MiB");
  }
  if (capsule.cpu_ms >= 0) add(words, "processor " + duration(capsule.cpu_ms));
  return words;
}

fleet::NodesOfRollout nodes_of_rollout(const fleet::Reading& reading, const std::string& rollout) {
  fleet::NodesOfRollout nodes;
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key || key->kind != KeyKind::rollout_node || key->names[0] != rollout) continue;
    const auto record = fleet::read_record<fleet::RolloutNode>(found.value);
    if (!record) continue;
    fleet::NodeOfRollout& node = nodes[key->names[1]];
    node.record = record.value();
    if (!node.record.before.empty()) node.marks["before"] = node.record.before;
  }
  for (const fleet::NodeView& view : nodes_in(reading)) {
    const auto node = nodes.find(view.id);
    if (node == nodes.end()) continue;
    node->second.marks.insert(view.info.labels.begin(), view.info.labels.end());
    node->second.marks.insert(view.info.facts.begin(), view.info.facts.end());
  }
  return nodes;
}

std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups) {
  std::vector<std::string> lines;
  for (const fleet::FailureGroup& group : groups) {
    for (std::string& line : paragraph(group))
      lines.push_back(std::move(line));
  }
  if (lines.empty()) lines.emplace_back("no node has failed");
  return lines;
}

std::string why_json(const std::vector<fleet::FailureGroup>& groups) {
  fleet::RecordWriter archive;
  archive.write_member("failures", groups);
  return "{" + archive.members() + "}";
}

}  // namespace fleetctl
