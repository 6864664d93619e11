#include "fleet/model/held.h"

#include <algorithm>
#include <set>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_terms.h"

namespace fleet {

std::vector<std::string> nodes_to_begin(const Rollout& rollout, const Reading& reading) {
  if (rollout.state != RolloutState::rolling) return {};
  std::vector<std::string> nodes;
  std::set<std::string> begun;
  for (const KeyValue& found : reading.found) {
    const auto key = parse_key(found.key);
    if (!key) continue;
    if (key->kind == KeyKind::rollout_batch &&
        key->number() == static_cast<std::uint64_t>(rollout.batch)) {
      const auto batch = read_record<RolloutBatch>(found.value);
      if (batch) nodes = batch.value().nodes;
    }
    if (key->kind != KeyKind::rollout_node) continue;
    const auto node = read_record<RolloutNode>(found.value);
    const auto stage = node ? node.value().stage : NodeStage::unknown;
    const bool is_to_begin = stage == NodeStage::waiting || stage == NodeStage::preparing;
    if (!is_to_begin) begun.insert(key->names[1]);
  }
  const bool have_all_begun = std::ranges::all_of(
      nodes, [&begun](const std::string& node) { return begun.contains(node); });
  return have_all_begun ? std::vector<std::string>() : nodes;
}

std::vector<std::string> nodes_to_begin(const PlanView& view) {
  const bool is_to_begin = view.plan.state == PlanState::running && view.plan.step == 0;
  return is_to_begin ? view.ids : std::vector<std::string>();
}

ToBegin to_begin(const Rollout& rollout, const Reading& reading) {
  return {.nodes = nodes_to_begin(rollout, reading),
          .takes = confirm_ms(rollout.terms),
          .ignore_window = rollout.terms.ignore_window};
}

ToBegin to_begin(const PlanView& view, const Budgets& budgets) {
  return {.nodes = nodes_to_begin(view),
          .takes = longest(view, &budgets),
          .ignore_window = view.plan.ignore_window};
}

Held held_back(const ToBegin& what, bool is_stopped, const WindowView& windows) {
  if (what.nodes.empty()) return {};
  if (is_stopped) return {"the end of the stop (fleetctl stop off)"};
  if (what.ignore_window) return {};
  const Opening opening = windows.opening(what.nodes, what.takes, 0);
  return {opening.why, !opening.is_open && !opening.until};
}

Held held_back(const ToBegin& what, const Reading& cell, UnixSeconds now, const ZoneBook& zones) {
  WindowView windows(zones);
  windows.set_wall(now, 0);
  windows.take_all(cell);
  return held_back(what, cell.find(key_of(KeyKind::stop)) != nullptr, windows);
}

}  // namespace fleet
