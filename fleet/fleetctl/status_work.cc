// Implements the lines of `fleetctl status` about rollouts and plans that wait. Also finds out why
// a node's upgrades wait for a confirmation.
#include "fleet/fleetctl/held.h"
#include "fleet/fleetctl/status_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

// Adds a line if the work waits. Prefers `held`: the reason in the work's record, `recorded`, may
// be old while the work is held back.
void add(const std::string& name, const fleet::Held& held, const std::string& recorded,
         std::vector<std::string>& lines) {
  const std::string& words = held.words.empty() ? recorded : held.words;
  if (!words.empty()) lines.push_back(name + " waits for " + words);
}

void add_rollout(const std::string& id, const fleet::Rollout& rollout, const fleet::Reading& cell,
                 const fleet::WindowView& windows, std::vector<std::string>& lines) {
  const std::string below = fleet::key_below(fleet::key_of(KeyKind::rollout, {id}));
  fleet::Reading own;
  for (const fleet::KeyValue& found : cell.found)
    if (found.key.starts_with(below)) own.found.push_back(found);
  add("rollout " + id + " (" + rollout.terms.component + " " + rollout.terms.version + ")",
      held_rollout(id, rollout, own, cell, windows), rollout.waits_for, lines);
}

void add_plan(const std::string& name, const fleet::Reading& cell, const fleet::WindowView& windows,
              std::vector<std::string>& lines) {
  fleet::PlanView plan{.name = name};
  plan.take_all(cell);
  add("plan " + name + " (" + plan.plan.version + ")", held_plan(plan, cell, windows),
      plan.plan.waits_for, lines);
}

}  // namespace

std::vector<std::string> work_lines(const fleet::Reading& cell, const fleet::WindowView& windows) {
  std::vector<std::string> lines;
  for (const fleet::KeyValue& found : cell.found) {
    const auto key = fleet::parse_key(found.key);
    if (!key) continue;
    if (key->kind == KeyKind::rollout) {
      const auto rollout = fleet::read_record<fleet::Rollout>(found.value);
      if (rollout && !is_over(rollout.value().state))
        add_rollout(key->names.front(), rollout.value(), cell, windows, lines);
    }
    if (key->kind == KeyKind::plan) {
      const auto plan = fleet::read_record<fleet::Plan>(found.value);
      if (plan && !is_over(plan.value().state)) add_plan(key->names.front(), cell, windows, lines);
    }
  }
  return lines;
}

std::map<std::string, std::string> waits_at_gate(const fleet::NodeView& node,
                                                 const fleet::Reading& cell,
                                                 const fleet::WindowView& windows) {
  fleet::Budgets budgets;
  budgets.take_all(cell);
  std::map<std::string, std::string> waits;
  for (const auto& [component, own] : node.desired) {
    const auto* found = cell.find(fleet::key_of(KeyKind::desired, {component}));
    const auto read = fleet::read_record<fleet::Desired>(found == nullptr ? "{}" : found->value);
    const fleet::Desired desired = read ? read.value() : fleet::Desired{};
    const auto wish = fleet::wish_of({desired, found == nullptr ? 0 : found->modified});
    const fleet::DesiredNode moved = desired_node(node, component);
    const bool is_pinned = is_pinned_at_gate(moved);
    const bool is_at_gate = is_pinned || (wish && standing_of(moved, *wish).is_at_gate);
    const bool is_ready = moved.upgrade.record.phase == fleet::UpgradePhase::cutover_ready;
    if (is_ready && !desired.refused.empty())
      waits[component] =
          "a person, since " + desired.version + " moves no node: " + desired.refused;
    if (!is_at_gate) continue;
    const fleet::ToBegin stop{
        .ignore_window = is_pinned ? own.record.ignore_window : wish->desired.ignore_window,
        .one_by_one = true,
        .at_gate = {node.id},
        .stop_takes = fleet::DesiredSettings().stop_ms,
        .run = fleet::run_of_desired(component)};
    fleet::Held held = held_back(stop, is_stopped(cell), windows, &budgets);
    if (held.words.empty()) held = fleet::undriven("desired", cell);
    if (!held.words.empty()) waits[component] = held.words;
  }
  return waits;
}

}  // namespace fleetctl
