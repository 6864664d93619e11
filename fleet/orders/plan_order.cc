// This file decides about orders of people to begin a plan, or to recover it.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/plans/plan_draft.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/rollouts/rollout_decision.h"
#include "fleet/orders/order.h"
#include "fleet/orders/order_kinds.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

// The members that a person may write in the JSON of a plan. Programs write the other members while
// the plan runs.
constexpr auto plan_members =
    std::to_array<std::string_view>({"v", "version", "component", "agent", "soak_ms", "steps",
                                     "ignore_window", "over_budget", "target"});

// Returns why a person's JSON is refused if it has a member that the person may not write, and
// otherwise no value.
std::optional<Refusal> wrong_member(const JsonTree& plan) {
  for (const auto& [name, value] : plan.members) {
    if (std::ranges::find(plan_members, name) == plan_members.end())
      return Refusal{no_member(name, {plan_members.begin(), plan_members.end()})};
  }
  const JsonTree* steps = plan.find("steps");
  const auto names = member_names<PlanStep>();
  for (const JsonTree& step : steps == nullptr ? std::vector<JsonTree>() : steps->elements) {
    for (const auto& [name, value] : step.members) {
      if (std::ranges::find(names, name) == names.end())
        return Refusal{"step " + step.text_of("name") + ": " + no_member(name, names)};
    }
  }
  return std::nullopt;
}

Result<Plan> asked_in(const Order& order) {
  const auto body = parse_tree(order.body.empty() ? "{}" : order.body);
  if (!body) return Refusal{"it is no JSON object: " + body.reason()};
  if (const auto wrong = wrong_member(body.value())) return *wrong;
  auto asked = read_record<Plan>(order.body);
  if (!asked) return asked.refusal();
  if (const auto why = why_no_plan(asked.value())) return Refusal{*why};
  if (asked.value().target.empty()) asked.value().target = "*";
  return asked;
}

std::optional<std::string> why_no_name(const std::string& name, const Plan& plan) {
  if (auto taken = why_no_driven_name(name)) return taken;
  if (agent_rollout_id(name, plan).size() <= rollout_id_bytes_max) return std::nullopt;
  return "the name is too long";
}

// Returns the members of the plan: all nodes of the cell that the target selects, even nodes that
// do not report. A plan waits for all its members. So if a node is gone for good, a person has to
// remove this node from the cell first.
Result<std::vector<std::string>> members_of(const std::string& text,
                                            const std::vector<NodeView>& views) {
  const auto nodes = target_nodes(views);
  const auto target = parse_target(text);
  if (!target) return Refusal{"target: " + target.reason()};
  const auto meant = select_nodes(target.value(), nodes);
  if (!meant) return Refusal{"target: " + meant.reason()};
  std::vector<std::string> members = meant.value().nodes;
  for (const std::string& silent : meant.value().not_covered) {
    const bool is_enrolled = std::any_of(nodes.begin(), nodes.end(),
                                         [&](const auto& node) { return node.id == silent; });
    if (is_enrolled) members.push_back(silent);
  }
  std::sort(members.begin(), members.end());
  if (members.empty()) return Refusal{"no node is meant"};
  return members;
}

Result<PlanGround> ground_of(const Reading& reading, Plan& plan) {
  PlanGround ground;
  if (!plan.agent.empty()) {
    const auto found = published_release(reading, "agent", plan.agent);
    if (!found) return found.refusal();
    plan.agent_digest = found.value().release.digest;
    ground.agent_release = found.value().revision;
  }
  if (plan.component.empty()) return ground;
  const auto found = published_release(reading, plan.component, plan.version);
  if (!found) return found.refusal();
  plan.digest = found.value().release.digest;
  ground.release = found.value().revision;
  const KeyValue* wish = reading.find(key_of(KeyKind::desired, {plan.component}));
  if (wish == nullptr) return ground;
  const auto desired = read_record<Desired>(wish->value);
  if (!desired) return Refusal{"what is desired of " + plan.component + " " + desired.reason()};
  ground.desired = desired.value();
  ground.desired_revision = wish->modified;
  return ground;
}

// Returns why the nodes cannot be members of the plan, or no value if they can. A plan must not
// bring a member to an older version than the member runs, since data that a newer version has
// migrated cannot be migrated back.
std::optional<std::string> why_no_member(const std::vector<NodeView>& nodes, const Plan& plan,
                                         const std::vector<std::string>& members) {
  if (plan.component.empty()) return std::nullopt;
  std::vector<NodeView> meant;
  std::ranges::copy_if(nodes, std::back_inserter(meant), [&members](const NodeView& node) {
    return std::binary_search(members.begin(), members.end(), node.id);
  });
  const std::string newer = who_runs_newer(meant, plan.component, plan.version);
  if (newer.empty()) return std::nullopt;
  return plan.component + " " + plan.version + " is older than what runs on " + newer +
         ": no plan goes back";
}

// Returns why a step of this plan exceeds a budget of the cell, or no value if none does. A budget
// limits how many nodes may be down at the same time.
std::optional<std::string> why_over_budget(const Plan& plan, const Reading& reading) {
  Budgets budgets;
  if (const KeyValue* settings = reading.find(key_of(KeyKind::settings))) budgets.take(*settings);
  if (!needs_places(plan, &budgets)) return std::nullopt;
  for (const PlanStep& step : plan.steps) {
    if (step.kind == StepClass::together) return over_budget_text(step.name, budgets);
  }
  return std::nullopt;
}

PlanView view_of(const std::string& name, const Reading& reading) {
  PlanView view{.name = name};
  view.take_all(reading);
  return view;
}

OrderDecision begin_plan(const Order& order, const std::string& name, const CellFacts& facts,
                         const Orderer& orderer) {
  const Reading& reading = facts.reading();
  auto asked = asked_in(order);
  if (!asked) return malformed(asked.reason());
  const Plan& written = asked.value();
  Plan plan{.version = written.version,
            .component = written.component,
            .agent = written.agent,
            .soak_ms = written.soak_ms,
            .steps = written.steps,
            .target = written.target,
            .ignore_window = written.ignore_window,
            .over_budget = written.over_budget,
            .who = orderer.who,
            .trace = orderer.trace};
  if (const auto why = why_no_name(name, plan)) {
    return malformed("no plan is called " + name + ": " + *why);
  }
  if (reading.find(key_of(KeyKind::rollout, {name})) != nullptr) {
    return conflict("there is a rollout " + name + ": choose another name");
  }
  const std::vector<NodeView>& nodes = facts.nodes();
  const auto members = members_of(plan.target, nodes);
  if (!members) return malformed(members.reason());
  if (const auto why = why_over_budget(plan, reading)) return malformed(*why);
  if (const auto why = why_no_member(nodes, plan, members.value())) return malformed(*why);
  const auto ground = ground_of(reading, plan);
  if (!ground) return malformed(ground.reason());
  const PlanView view = view_of(name, reading);
  if (view.revision != 0 && !is_over(view.plan.state)) {
    return conflict("there is a plan " + name + " already (fleetctl plan recover " + name + ")");
  }
  JsonTree shown = json_object();
  shown.members["members"] = json_texts(members.value());
  OrderTaken taken{.is_new = true, .parts = make_room(view), .shown = write_tree(shown)};
  taken.event.text = "begins with " + counted(members.value().size(), "member");
  taken.creation =
      std::make_shared<PlanCreation>(name, std::move(plan), members.value(), ground.value());
  return taken;
}

OrderDecision recover(const std::string& name, const Reading& reading) {
  const PlanView view = view_of(name, reading);
  if (view.revision == 0) return absent(name + ": no such plan");
  OrderTaken taken{.parts = recover_plan(view)};
  if (taken.parts.empty()) {
    return conflict(name + ": it is " + std::string(text_of(view.plan.state)) +
                    ", and is recovered when it has ended");
  }
  taken.event.text = "is recovered: the next run begins anew";
  return taken;
}

}  // namespace

std::vector<std::string> needs_of_plan(const Order& order, const std::string& name) {
  std::vector<std::string> keys{key_below(key_of(KeyKind::plan, {name})),
                                prefix_of(KeyKind::once) + name + "/",
                                prefix_of(KeyKind::node_info),
                                node_identities(),
                                key_of(KeyKind::settings),
                                prefix_of(KeyKind::place)};
  if (order.deed == Deed::put) {
    keys.push_back(key_of(KeyKind::stop));
    keys.push_back(key_of(KeyKind::rollout, {name}));
  }
  if (order.deed == Deed::erase) keys.push_back(prefix_of(KeyKind::desired));
  const auto asked = asked_in(order);
  if (order.deed != Deed::put || !asked) return keys;
  const Plan& plan = asked.value();
  if (!plan.agent.empty()) keys.push_back(key_of(KeyKind::release, {"agent", plan.agent}));
  if (plan.component.empty()) return keys;
  keys.push_back(key_of(KeyKind::release, {plan.component, plan.version}));
  keys.push_back(key_of(KeyKind::desired, {plan.component}));
  return keys;
}

OrderDecision decide_plan_order(const Order& order, const std::string& name, const CellFacts& facts,
                                const Orderer& orderer) {
  switch (order.deed) {
    case Deed::put:
      return begin_plan(order, name, facts, orderer);
    case Deed::erase:
      return recover(name, facts.reading());
    case Deed::patch:
      break;
  }
  return malformed("a plan is not changed: it is begun, and recovered when it has ended");
}

}  // namespace fleet
