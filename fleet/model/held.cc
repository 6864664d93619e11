#include "fleet/model/held.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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

std::vector<std::string> nodes_to_begin(const CellWish& wish,
                                        const std::map<std::string, DesiredNode>& nodes) {
  const DesiredSettings settings;
  WishCount counts;
  std::vector<std::string> first;
  std::vector<std::string> others;
  for (const auto& [id, node] : nodes) {
    const WishStanding standing = standing_of(node, wish);
    counts.add(standing, 1);
    if (standing.may_begin) (standing.waits ? first : others).push_back(id);
  }
  if (has_halted(counts, settings)) return {};
  if (may_one_more_begin(counts, settings)) first.insert(first.end(), others.begin(), others.end());
  return first;
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

ToBegin to_begin(const CellWish& wish, const std::map<std::string, DesiredNode>& nodes) {
  return {.nodes = nodes_to_begin(wish, nodes),
          .takes = upgrade_ms({}),
          .ignore_window = wish.desired.ignore_window,
          .one_by_one = true};
}

namespace {

// Returns whether one of the nodes may begin by itself now. If all of their windows are closed, the
// result is that of the node whose window opens first.
Opening first_opening(const ToBegin& what, const WindowView& windows) {
  std::optional<Opening> first;
  for (const std::string& node : what.nodes) {
    Opening one = windows.opening(node, what.takes, 0);
    if (one.is_open) return one;
    const bool is_first = !first || (one.until && (!first->until || *one.until < *first->until));
    if (!is_first) continue;
    first = std::move(one);
    first->why = node + ": " + first->why;
  }
  return first.value_or(Opening{});
}

}  // namespace

Held held_back(const ToBegin& what, bool is_stopped, const WindowView& windows) {
  if (what.nodes.empty()) return {};
  if (is_stopped) return {"the end of the stop (fleetctl stop off)"};
  if (what.ignore_window) return {};
  const Opening opening =
      what.one_by_one ? first_opening(what, windows) : windows.opening(what.nodes, what.takes, 0);
  return {opening.why, !opening.is_open && !opening.until};
}

Held held_back(const ToBegin& what, const Reading& cell, UnixSeconds now, const ZoneBook& zones) {
  WindowView windows(zones);
  windows.set_wall(now, 0);
  windows.take_all(cell);
  return held_back(what, cell.find(key_of(KeyKind::stop)) != nullptr, windows);
}

}  // namespace fleet
