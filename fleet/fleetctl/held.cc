#include "fleet/fleetctl/held.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_terms.h"

namespace fleetctl {

using fleet::KeyKind;

std::vector<std::string> nodes_to_begin(const fleet::Rollout& rollout,
                                        const fleet::Reading& reading) {
  if (rollout.state != fleet::RolloutState::rolling) return {};
  std::vector<std::string> nodes;
  std::set<std::string> begun;
  for (const fleet::KeyValue& found : reading.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key) continue;
    if (key->kind == KeyKind::rollout_batch &&
        key->number() == static_cast<std::uint64_t>(rollout.batch)) {
      const auto batch = fleet::read_record<fleet::RolloutBatch>(found.value);
      if (batch) nodes = batch.value().nodes;
    }
    if (key->kind != KeyKind::rollout_node) continue;
    const auto node = fleet::read_record<fleet::RolloutNode>(found.value);
    const auto stage = node ? node.value().stage : fleet::NodeStage::unknown;
    const bool is_to_begin =
        stage == fleet::NodeStage::waiting || stage == fleet::NodeStage::preparing;
    if (!is_to_begin) begun.insert(key->names[1]);
  }
  const bool have_all_begun = std::ranges::all_of(
      nodes, [&begun](const std::string& node) { return begun.contains(node); });
  return have_all_begun ? std::vector<std::string>() : nodes;
}

std::string held_words(const ToBegin& what, const fleet::Reading& cell, fleet::UnixSeconds now,
                       const fleet::ZoneBook& zones) {
  if (what.nodes.empty()) return "";
  if (cell.find(fleet::key_of(KeyKind::stop)) != nullptr) {
    return "the end of the stop (fleetctl stop off)";
  }
  if (what.ignore_window) return "";
  fleet::WindowView windows(zones);
  windows.set_wall(now, 0);
  windows.take_all(cell);
  return windows.opening(what.nodes, what.takes, 0).why;
}

// Reads the records of nodes, of which there may be thousands, only if the cell has windows.
int find_held(Asker& asker, const fleet::Rollout& rollout, const fleet::Reading& reading,
              std::string& held) {
  const ToBegin what{nodes_to_begin(rollout, reading), confirm_ms(rollout.terms),
                     rollout.terms.ignore_window};
  std::vector<std::string> keys{fleet::key_of(KeyKind::stop), fleet::prefix_of(KeyKind::window)};
  auto reply = read_keys(asker, keys);
  const auto* cell = std::get_if<fleet::Reading>(&reply);
  if (cell != nullptr && !cell->found.empty() && !what.nodes.empty()) {
    keys.push_back(fleet::prefix_of(KeyKind::node_info));
    keys.push_back(fleet::node_identities());
    reply = read_keys(asker, keys);
    cell = std::get_if<fleet::Reading>(&reply);
  }
  if (cell == nullptr) return unreachable(std::get<fleet::Trouble>(reply));
  held = held_words(what, *cell, std::time(nullptr), fleet::zone_of);
  return exit_done;
}

}  // namespace fleetctl
