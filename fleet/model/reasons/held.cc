#include "fleet/model/reasons/held.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "fleet/model/drivers/controllers_at_work.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleet {

std::vector<std::string> nodes_to_begin(const Rollout& rollout, const Reading& reading) {
  if (rollout.state != RolloutState::rolling) return {};
  std::vector<std::string> nodes;
  std::set<std::string> begun;
  std::set<std::string> ended;
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
    const bool is_again = stage == NodeStage::not_judged && node.value().again < rollout.again;
    const bool is_to_begin =
        is_again || stage == NodeStage::waiting || stage == NodeStage::preparing;
    if (!is_to_begin) begun.insert(key->names[1]);
    if (is_end(stage) && !is_again) ended.insert(key->names[1]);
  }
  const bool have_all_begun = std::ranges::all_of(
      nodes, [&begun](const std::string& node) { return begun.contains(node); });
  if (have_all_begun) return {};
  std::erase_if(nodes, [&ended](const std::string& node) { return ended.contains(node); });
  return nodes;
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

bool keeps_later_version(const DesiredNode& node, const CellWish& wish) {
  if (node.running.empty() || runs(node, wish.desired.version)) return false;
  return node.desired.revision > wish.revision && !is_told(node, wish) &&
         !node.desired.record.pinned;
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
               .stop_takes = settings_.stop_ms,
               .run = run_of_desired(component_)};
  if (may_one_more_begin(counts_, settings_))
    what.nodes.insert(what.nodes.end(), others_.begin(), others_.end());
  return what;
}

namespace {

// Finds out whether at least one node may begin, or may stop its old version, at this moment.
class FirstOpening {
 public:
  FirstOpening(const ToBegin& what, const WindowView& windows, const Budgets* budgets)
      : what_(what), windows_(windows), budgets_(budgets) {}

  // Returns an open Opening if one of the nodes may begin, or may stop its old version. Otherwise
  // returns the Opening of the node with the shortest wait: a node that only waits for a budget
  // place, or the node whose window opens first.
  Opening find() {
    for (const std::string& node : what_.at_gate)
      if (is_open(node, what_.stop_takes) && has_place(node)) return {};
    for (const std::string& node : what_.nodes)
      if (is_open(node, what_.takes)) return {};
    return first_.value_or(Opening{});
  }

 private:
  bool is_open(const std::string& node, Ms takes) {
    if (what_.ignore_window) return true;
    const Opening one = windows_.opening(node, takes, 0);
    if (!one.is_open) consider(node, one);
    return one.is_open;
  }

  // A node takes one place for each label with a budget. There are enough places for one node, so
  // the wait for places ends by itself.
  bool has_place(const std::string& node) {
    if (budgets_ == nullptr) return true;
    const PlacesAnswer answer = budgets_->ask(what_.run, {node}, budget_labels_max);
    if (!answer.waits_for.empty()) consider(node, {false, Ms{0}, answer.waits_for});
    return answer.waits_for.empty();
  }

  void consider(const std::string& node, const Opening& one) {
    const bool is_first = !first_ || (one.until && (!first_->until || *one.until < *first_->until));
    if (is_first) first_ = {one.is_open, one.until, node + ": " + one.why};
  }

  const ToBegin& what_;
  const WindowView& windows_;
  const Budgets* budgets_;
  std::optional<Opening> first_ = {};
};

}  // namespace

Held held_back(const ToBegin& what, bool is_stopped, const WindowView& windows,
               const Budgets* budgets) {
  if (what.nodes.empty() && what.at_gate.empty()) return {};
  if (is_stopped) return {"the end of the stop (fleetctl stop off)"};
  if (!what.one_by_one && what.ignore_window) return {};
  const Opening opening = what.one_by_one ? FirstOpening(what, windows, budgets).find()
                                          : windows.opening(what.nodes, what.takes, 0);
  return {opening.why, !opening.is_open && !opening.until};
}

Held held_back(const ToBegin& what, const Reading& cell, UnixSeconds now, const ZoneBook& zones) {
  WindowView windows(zones);
  windows.set_wall(now, 0);
  windows.take_all(cell);
  return held_back(what, cell.find(key_of(KeyKind::stop)) != nullptr, windows);
}

std::vector<std::string> batches_held_for_ever(const std::vector<std::vector<std::string>>& batches,
                                               const RolloutTerms& terms,
                                               const WindowView& windows) {
  std::vector<std::string> lines;
  std::size_t number = 0;
  for (const std::vector<std::string>& batch : batches) {
    ++number;
    const ToBegin what{
        .nodes = batch, .takes = confirm_ms(terms), .ignore_window = terms.ignore_window};
    const Held held = held_back(what, false, windows);
    if (held.needs_person)
      lines.push_back("batch " + std::to_string(number) + " cannot begin: " + held.words);
  }
  return lines;
}

Held undriven(const std::string& id, const Reading& cell) {
  if (cell.find(key_of(KeyKind::driver, {id})) != nullptr) return {};
  ControllersAtWork controllers;
  for (const KeyValue& found : cell.found)
    controllers.take(found);
  if (!controllers.living().empty()) return {"a controller that drives it"};
  const auto silent = controllers.silent();
  if (silent.empty()) return {"a controller: none is at work", true};
  return {"a controller: " + listed(silent) + (silent.size() == 1 ? " is silent" : " are silent"),
          true};
}

Held not_halted(const PlanView& view, const Reading& cell) {
  const KeyValue* found = cell.find(key_of(KeyKind::driver, {view.name}));
  if (found == nullptr || view.plan.state != PlanState::running || !view.is_from_snapshot())
    return {};
  const auto driver = read_record<DriverRecord>(found->value);
  return {"a newer controller than " + (driver ? driver.value().controller : "its driver") +
              ", to halt it, since it ran when the store was restored",
          true};
}

Held agents_to_come(const PlanView& view) {
  const std::string id = agent_rollout_id(view.name, view.plan);
  const auto found = view.rollouts.find(id);
  if (!is_to_begin(view.plan) || found == view.rollouts.end()) return {};
  const bool is_paused = found->second.state == RolloutState::paused;
  if (!is_paused && !is_under_way(found->second)) return {};
  const std::string words = "rollout " + id + ", which brings fleet-agent " + view.plan.agent;
  if (!is_paused) return {words};
  const std::string& reason = found->second.reason;
  return {words + ", and is paused" + (reason.empty() ? "" : ": " + reason), true};
}

// ---- pinned nodes

void PinnedNodes::take(const NodeView& node) {
  for (const auto& [component, own] : node.desired) {
    if (!is_pinned_at_gate(desired_node(node, component))) continue;
    pins_[{component, own.record.version}].push_back({node.id, own.record.ignore_window});
  }
}

std::vector<std::string> PinnedNodes::at_gate() const {
  std::vector<std::string> nodes;
  for (const auto& [what, pins] : pins_)
    for (const Pin& pin : pins)
      nodes.push_back(pin.node);
  return nodes;
}

std::vector<HeldPins> PinnedNodes::held(bool is_stopped, const WindowView& windows,
                                        const Budgets* budgets) const {
  std::vector<HeldPins> groups;
  for (const auto& [what, pins] : pins_) {
    HeldPins group{.component = what.first, .version = what.second};
    for (const Pin& pin : pins) {
      const ToBegin stop{.ignore_window = pin.ignore_window,
                         .one_by_one = true,
                         .at_gate = {pin.node},
                         .stop_takes = settings_.stop_ms,
                         .run = run_of_desired(what.first)};
      const Held held = held_back(stop, is_stopped, windows, budgets);
      if (held.words.empty()) continue;
      if (group.nodes.empty()) group.held = held;
      group.nodes.push_back(pin.node);
    }
    if (!group.nodes.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace fleet
