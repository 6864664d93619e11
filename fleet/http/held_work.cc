#include "fleet/http/held_work.h"

#include <cstdint>
#include <string>
#include <utility>

#include "fleet/model/drivers/budgets.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"

namespace fleet {
namespace {

ZoneBook zones_of(const StateMoment& moment) {
  return [&moment](const std::string& name) {
    const auto zone = moment.zone(name);
    return zone ? Result<TimeZone>(*zone) : Refusal{"tzdata has none of that name here"};
  };
}

// Finds out what holds back each rollout, plan and desired version of the cell. Uses the node
// records that CellState has already parsed: parsing thousands of records for each request would be
// slow.
class Search {
 public:
  Search(const StateView& view, const StateMoment& moment)
      : view_(view), desired_settings_(moment.desired), windows_(zones_of(moment)) {
    windows_.set_wall(moment.now, 0);
    const Reading windows = below(prefix_of(KeyKind::window));
    windows_.take_all(windows);
    Reading places = below(prefix_of(KeyKind::place));
    add(places, key_of(KeyKind::settings));
    budgets_.take_all(places);
    is_needed_ = view.cell.stop() || !windows.found.empty() || budgets_.is_set();
  }

  // Returns whether the cell has a stop, a window, or a budget (a limit for the number of nodes
  // that may be down at the same time). Without these, no work is held back.
  [[nodiscard]] bool is_needed() const { return is_needed_; }

  void look_at(const std::string& subject, const ToBegin& what) {
    for (const auto* ids : {&what.nodes, &what.at_gate})
      for (const std::string& id : *ids)
        take_node(id);
    Held held = held_back(what, view_.cell.stop().has_value(), windows_,
                          what.at_gate.empty() ? nullptr : budgets());
    if (!held.words.empty()) found_.work[subject] = std::move(held);
  }

  void look_at_pinned() {
    PinnedNodes pinned(desired_settings_);
    for (const auto& [id, node] : view_.cell.nodes())
      pinned.take(node);
    const std::vector<std::string> at_gate = pinned.at_gate();
    for (const std::string& id : at_gate)
      take_node(id);
    if (at_gate.empty()) return;
    found_.pins = pinned.held(view_.cell.stop().has_value(), windows_, budgets());
  }

  // Reads only the records of the rollout's current batch and of the nodes in it.
  [[nodiscard]] ToBegin of_rollout(const std::string& id, const Rollout& rollout) const {
    Reading records;
    add(records, key_of(KeyKind::rollout_batch, {id}, static_cast<std::uint64_t>(rollout.batch)));
    for (const std::string& node : nodes_to_begin(rollout, records)) {
      if (const auto key = key_if(KeyKind::rollout_node, {id, node})) add(records, *key);
    }
    return to_begin(rollout, records);
  }

  // Finds the members of the plan, and computes how long the plan lasts. The duration depends on
  // the labels of the members if the cell has budgets (limits for the number of nodes that may be
  // down at the same time).
  [[nodiscard]] ToBegin of_plan(const std::string& name, const Plan& plan) const {
    PlanView seen{.name = name, .plan = plan};
    const Reading members = below(key_below(key_of(KeyKind::plan, {name}) + "/member"));
    for (const KeyValue& member : members.found)
      seen.take(member);
    Reading records;
    add(records, key_of(KeyKind::settings));
    Budgets budgets;
    budgets.take_all(records);
    for (const std::string& id : seen.ids) {
      if (!budgets.is_set()) break;
      if (const auto key = key_if(KeyKind::node_info, {id})) add(records, *key);
      if (const auto key = key_if(KeyKind::identity, {node_kind, id})) add(records, *key);
    }
    budgets.take_all(records);
    return to_begin(seen, budgets);
  }

  [[nodiscard]] ToBegin of_desired(const std::string& component, const Desired& desired) const {
    const auto record = view_.records.find(key_of(KeyKind::desired, {component}));
    const Revision revision = record == view_.records.end() ? 0 : record->second.modified;
    const auto wish = wish_of({desired, revision});
    if (!wish) return {};
    NextNodes next(component, *wish, desired_settings_);
    for (const auto& [id, node] : view_.cell.nodes())
      next.take(id, desired_node(node, component));
    return next.to_begin();
  }

  [[nodiscard]] HeldWork found() && { return std::move(found_); }

 private:
  // Returns the budgets of the cell (limits for the number of nodes that may be down at the same
  // time), or null if the cell has none. Adds the nodes to the budgets only at the first call,
  // since budgets matter only while an upgrade waits for a confirmation.
  const Budgets* budgets() {
    if (!budgets_.is_set()) return nullptr;
    if (!std::exchange(budgets_know_nodes_, true)) {
      for (const auto& [id, node] : view_.cell.nodes())
        budgets_.take_node(node);
    }
    return &budgets_;
  }

  void take_node(const std::string& id) {
    const auto node = view_.cell.nodes().find(id);
    const bool has_records = node != view_.cell.nodes().end();
    windows_.take_node(
        id, has_records ? node->second.info : NodeInfo{.labels = view_.cell.given_labels(id)});
  }

  void add(Reading& records, const std::string& key) const {
    const auto record = view_.records.find(key);
    if (record != view_.records.end()) records.found.push_back(record->second);
  }

  [[nodiscard]] Reading below(const std::string& prefix) const {
    Reading records;
    for (auto at = view_.records.lower_bound(prefix); at != view_.records.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      records.found.push_back(at->second);
    }
    return records;
  }

  const StateView& view_;
  const DesiredSettings& desired_settings_;
  WindowView windows_;
  Budgets budgets_;
  bool budgets_know_nodes_ = false;
  bool is_needed_ = false;
  HeldWork found_ = {};
};

}  // namespace

HeldWork held_work(const StateView& view, const StateMoment& moment) {
  Search search(view, moment);
  if (!search.is_needed()) return {};
  for (const auto& [id, one] : view.cell.rollouts()) {
    if (one.rollout.state != RolloutState::rolling) continue;
    search.look_at("rollout/" + id, search.of_rollout(id, one.rollout));
  }
  for (const auto& [name, plan] : view.cell.plans()) {
    if (!is_to_begin(plan)) continue;
    search.look_at("plan/" + name, search.of_plan(name, plan));
  }
  for (const auto& [component, desired] : view.cell.desired())
    search.look_at("desired/" + component, search.of_desired(component, desired));
  search.look_at_pinned();
  return std::move(search).found();
}

}  // namespace fleet
