#include "fleet/model/plans/plan_draft.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {

using agent_protocol::Result;

namespace {

std::optional<std::string> why_no_step(const PlanStep& step) {
  if (step.kind == StepClass::unknown) {
    return "needs a class: any, one-at-a-time, once or together";
  }
  if (step.timeout_ms < step_timeout_ms_min || step.timeout_ms > step_timeout_ms_max) {
    return "timeout_ms is a second to a day";
  }
  if (step.migrate && step.kind != StepClass::together) {
    return "only a step that is done together migrates";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_no_plan(const Plan& plan) {
  if (!is_version_name(plan.version)) return "\"" + plan.version + "\" is no version";
  if (!plan.agent.empty() && !is_version_name(plan.agent)) {
    return "\"" + plan.agent + "\" is no version of fleet-agent";
  }
  if (plan.soak_ms < 0 || plan.soak_ms > step_timeout_ms_max) return "soak_ms is at most a day";
  if (plan.steps.empty()) return "it has no steps";
  std::set<std::string> names;
  bool migrates = false;
  for (const PlanStep& step : plan.steps) {
    if (const auto why = why_no_step(step)) return "step " + step.name + ": " + *why;
    if (!names.insert(step.name).second) return "step " + step.name + " is there twice";
    if (step.migrate && migrates) return "step " + step.name + ": one step migrates, and no more";
    migrates = migrates || step.migrate;
  }
  if (plan.component.empty()) return std::nullopt;
  if (!is_component(plan.component)) return "\"" + plan.component + "\" is no component";
  if (plan.component == "agent") {
    return "fleet-agent runs the hooks, and would be replaced while it does: `agent` says which";
  }
  if (!migrates) return "it has a component, and no step that migrates: nothing would release it";
  return std::nullopt;
}

namespace {

// Adds to the transaction the changes that start the plan. The store refuses the transaction if one
// of the records in `ground` has changed.
void begin(const std::string& name, Plan& plan, const PlanGround& ground,
           Transaction& transaction) {
  plan.state = PlanState::running;
  if (!plan.agent.empty()) {
    transaction.compares.push_back(
        {.key = key_of(KeyKind::release, {"agent", plan.agent}), .revision = ground.agent_release});
  }
  if (plan.component.empty()) return;
  const std::string wish = key_of(KeyKind::desired, {plan.component});
  // Store the earlier desired version in the plan, which restores it if the plan goes back. If that
  // version is pending, no node has moved to it yet, since another plan holds it back. In this case
  // `previous` stays empty. `desired_before` contains the whole record in both cases.
  if (!ground.desired.pending) {
    plan.previous = ground.desired.version;
    plan.previous_digest = ground.desired.digest;
  }
  if (ground.desired_revision != 0) plan.desired_before = {ground.desired};
  const Desired pending{.version = plan.version,
                        .digest = plan.digest,
                        .why = "plan/" + name,
                        .pending = true,
                        .trace = plan.trace,
                        .previous = plan.previous};
  transaction.compares.push_back({.key = key_of(KeyKind::release, {plan.component, plan.version}),
                                  .revision = ground.release});
  transaction.compares.push_back({.key = wish, .revision = ground.desired_revision});
  transaction.puts.push_back({.key = wish, .value = write_record(pending)});
}

}  // namespace

std::optional<Transaction> next_creation(const std::string& name, const Plan& wanted,
                                         const std::vector<std::string>& members,
                                         const PlanGround& ground,
                                         const std::optional<WrittenPlan>& written) {
  const std::string key = key_of(KeyKind::plan, {name});
  Plan plan = written ? written->record : wanted;
  if (!written) {
    plan.state = PlanState::created;
    plan.enlisted = 0;
  }
  if (plan.state != PlanState::created) return std::nullopt;
  Transaction transaction{.compares = {{.key = key, .revision = written ? written->revision : 0}}};
  if (!written) transaction.compares.push_back({.key = key_of(KeyKind::rollout, {name})});
  transaction.compares.push_back({.key = key_of(KeyKind::stop)});
  const auto all = static_cast<std::int64_t>(members.size());
  // The number may be out of range if the record is damaged.
  plan.enlisted = std::clamp<std::int64_t>(plan.enlisted, 0, all);
  // Add as many records of members as fit into the transaction. Leave room for two more records:
  // the plan and the desired version.
  while (plan.enlisted < all && transaction.puts.size() + 2 < operations_max) {
    const std::string& id = members[static_cast<std::size_t>(plan.enlisted++)];
    transaction.puts.push_back(
        {.key = key_of(KeyKind::plan_member, {name, id}), .value = write_record(PlanPlace{})});
  }
  if (plan.enlisted == all) begin(name, plan, ground, transaction);
  transaction.puts.push_back({.key = key, .value = write_record(plan)});
  return transaction;
}

PlanCreation::PlanCreation(std::string name, Plan wanted, std::vector<std::string> members,
                           PlanGround ground)
    : Creation(key_of(KeyKind::plan, {name}),
               "nothing may begin now (fleetctl stop), there is a rollout " + name +
                   ", or what was published or desired has changed"),
      name_(std::move(name)),
      wanted_(std::move(wanted)),
      members_(std::move(members)),
      ground_(std::move(ground)) {}

Result<std::optional<Transaction>> PlanCreation::what_is_left(const KeyValue* found) const {
  const auto written =
      written_of(wanted_, found,
                 "there is a plan " + name_ + " already (fleetctl plan recover " + name_ + ")");
  if (!written) return written.refusal();
  return next_creation(name_, wanted_, members_, ground_, written.value());
}

}  // namespace fleet
