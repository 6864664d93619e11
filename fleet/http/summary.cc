// Makes the summary of the cell for clients.
#include "fleet/http/cell_state.h"
#include "fleet/http/rollout_shown.h"
#include "fleet/model/chronicle.h"
#include "fleet/model/enum_text.h"

namespace fleet {
namespace {

// The maximum number of names in one list of the summary, which is about a screenful. A client that
// needs all names can read the records of the nodes.
constexpr std::size_t names_max = 50;

JsonTree object() {
  return {.kind = JsonTree::Kind::object};
}

JsonTree counted(const std::map<std::string, std::int64_t>& counts) {
  JsonTree tree = object();
  for (const auto& [name, count] : counts) {
    tree.members[name] = json_number(count);
  }
  return tree;
}

JsonTree plan_summary(const Plan& plan) {
  JsonTree tree = object();
  tree.members["state"] = json_text(std::string(text_of(plan.state)));
  tree.members["step"] = json_number(plan.step);
  tree.members["steps"] = json_number(static_cast<std::int64_t>(plan.steps.size()));
  tree.members["members"] = json_number(plan.enlisted);
  tree.members["error"] = json_text(plan.error);
  return tree;
}

JsonTree node_summary(const CellState& cell) {
  const NodeCount count = cell.count();
  JsonTree tree = object();
  std::vector<std::string> silent;
  JsonTree degraded = object();
  for (const auto& [id, node] : cell.nodes()) {
    if (!node.reports() && silent.size() < names_max) silent.push_back(id);
    const std::string why = node.degraded();
    if (!why.empty() && degraded.members.size() < names_max) degraded.members[id] = json_text(why);
  }
  tree.members["all"] = json_number(count.all);
  tree.members["reporting"] = json_number(count.reporting);
  tree.members["upgrading"] = json_number(count.upgrading);
  tree.members["silent"] = json_texts(silent);
  tree.members["degraded"] = std::move(degraded);
  return tree;
}

}  // namespace

JsonTree summary_of(const CellState& cell, UnixSeconds now) {
  JsonTree tree = object();
  tree.members["nodes"] = node_summary(cell);
  JsonTree& versions = tree.members["versions"] = object();
  for (const auto& [component, counts] : cell.versions()) {
    versions.members[component] = counted(counts);
  }
  JsonTree& desired = tree.members["desired"] = object();
  for (const auto& [component, wish] : cell.desired()) {
    desired.members[component] = json_text(wish.version);
  }
  JsonTree& rollouts = tree.members["rollouts"] = object();
  for (const auto& [id, one] : cell.rollouts()) {
    rollouts.members[id] = rollout_summary(cell, one, now);
  }
  JsonTree& plans = tree.members["plans"] = object();
  for (const auto& [name, plan] : cell.plans()) {
    plans.members[name] = plan_summary(plan);
  }
  JsonTree& drivers = tree.members["drivers"] = object();
  for (const auto& [id, controller] : cell.drivers()) {
    drivers.members[id] = json_text(controller);
  }
  if (cell.stop()) {
    JsonTree& stop = tree.members["stop"] = object();
    stop.members["who"] = json_text(cell.stop()->who);
    stop.members["why"] = json_text(cell.stop()->why);
    stop.members["since"] = json_text(cell.stop()->since);
  }
  // Do not count the driver of the history, which some controller always has. The cell is `running`
  // only if a controller drives a rollout, a plan or desired versions.
  const bool drives = cell.drivers().size() > cell.drivers().count(std::string(events_id));
  tree.members["status"] = json_text(cell.stop() ? "stopped" : drives ? "running" : "idle");
  return tree;
}

}  // namespace fleet
