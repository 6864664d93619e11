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
  return is_to_begin(view.plan) ? view.ids : std::vector<std::string>();
}

bool is_to_begin(const Plan& plan) {
  return plan.state == PlanState::running && plan.step == 0;
}

ToBegin to_begin(const Rollout& rollout, const Reading& reading) {
  return {.nodes = nodes_to_begin(rollout, reading),
          .takes = confirm_ms(rollout.terms),
          .ignore_window = rollout.terms.ignore_window};
}

ToBegin to_begin(const PlanView& view, const Budgets& budgets) {
  if (!is_to_begin(view.plan)) return {};
  return {.nodes = nodes_to_begin(view),
          .takes = longest(view, &budgets),
          .ignore_window = view.plan.ignore_window};
}

void NextNodes::take(const std::string& id, const DesiredNode& node) {
  const WishStanding standing = standing_of(node, wish_);
  counts_.add(standing, 1);
  if (standing.may_begin) (standing.waits ? first_ : others_).push_back(id);
  if (standing.is_at_gate) at_gate_.push_back(id);
}

ToBegin NextNodes::to_begin() const {
  if (has_halted(counts_, settings_)) return {};
  ToBegin what{.nodes = first_,
               .takes = upgrade_ms(settings_),
               .ignore_window = wish_.desired.ignore_window,
               .one_by_one = true,
               .at_gate = at_gate_,
               .stop_takes = settings_.stop_ms};
  if (may_one_more_begin(counts_, settings_))
    what.nodes.insert(what.nodes.end(), others_.begin(), others_.end());
  return what;
}

namespace {

// Returns whether one of the nodes may begin by itself now, or may stop its old version now. If all
// of their windows are closed, the result is that of the node whose window opens first.
Opening first_opening(const ToBegin& what, const WindowView& windows) {
  std::optional<Opening> first;
  const auto is_open = [&](const std::string& node, Ms takes) {
    Opening one = windows.opening(node, takes, 0);
    if (one.is_open) return true;
    const bool is_first = !first || (one.until && (!first->until || *one.until < *first->until));
    if (!is_first) return false;
    first = std::move(one);
    first->why = node + ": " + first->why;
    return false;
  };
  for (const std::string& node : what.at_gate)
    if (is_open(node, what.stop_takes)) return {};
  for (const std::string& node : what.nodes)
    if (is_open(node, what.takes)) return {};
  return first.value_or(Opening{});
}

}  // namespace

Held held_back(const ToBegin& what, bool is_stopped, const WindowView& windows) {
  if (what.nodes.empty() && what.at_gate.empty()) return {};
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
