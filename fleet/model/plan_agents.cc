#include "fleet/model/plan_agents.h"

#include <algorithm>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_draft.h"

namespace fleet {

std::string agent_rollout_id(const std::string& name, const Plan& plan) {
  return name + "." + plan.trace;
}

namespace {

// Returns how many nodes, beginning with the node at `from`, fit into one record, but at most
// `most`.
std::ptrdiff_t batch_size(std::vector<std::string>::const_iterator from, std::ptrdiff_t most) {
  while (most > 1 && write_record(RolloutBatch{{from, from + most}}).size() > value_bytes_max)
    most /= 2;
  return most;
}

}  // namespace

bool put_agent_rollout(Transaction& transaction, const std::string& name, const Plan& plan,
                       const std::vector<std::string>& nodes) {
  const std::string id = agent_rollout_id(name, plan);
  const auto key = key_if(KeyKind::rollout, {id});
  if (!key) return false;
  Rollout rollout{.terms = {.component = "agent",
                            .version = plan.agent,
                            .digest = plan.agent_digest,
                            .target = "members of plan " + name,
                            .batch = batch_nodes_max,
                            .canary = 1,
                            .soak_ms = plan.soak_ms,
                            .ignore_window = plan.ignore_window},
                  .state = RolloutState::rolling,
                  .who = "plan/" + name,
                  .trace = plan.trace};
  for (auto from = nodes.begin(); from != nodes.end();) {
    const std::int64_t most = from == nodes.begin() ? rollout.terms.canary : rollout.terms.batch;
    const auto to = from + batch_size(from, std::min<std::ptrdiff_t>(most, nodes.end() - from));
    transaction.puts.push_back(
        {.key = key_of(KeyKind::rollout_batch, {id}, static_cast<std::uint64_t>(rollout.batches)),
         .value = write_record(RolloutBatch{{from, to}})});
    ++rollout.batches;
    from = to;
  }
  transaction.compares.push_back({.key = *key});
  transaction.puts.push_back({.key = *key, .value = write_record(rollout)});
  // The caller adds the plan's own record later, so leave room for it.
  Transaction whole = transaction;
  whole.puts.push_back({.key = *key + "/plan", .value = std::string(value_bytes_max, ' ')});
  return !why_not_taken(whole);
}

bool is_under_way(const Rollout& rollout) {
  return rollout.state == RolloutState::created || rollout.state == RolloutState::rolling ||
         rollout.state == RolloutState::aborting || rollout.state == RolloutState::undoing ||
         rollout.state == RolloutState::baking;
}

bool is_agent_under_way(const PlanView& view) {
  const auto found = view.rollouts.find(agent_rollout_id(view.name, view.plan));
  return found != view.rollouts.end() && is_under_way(found->second);
}

std::vector<std::string> those_of_other_agents(const PlanView& view) {
  std::vector<std::string> others;
  for (const std::string& id : view.ids) {
    const auto found = view.members.find(id);
    const std::string version = found == view.members.end() ? "" : found->second.record.version;
    if (!view.plan.agent.empty() && version != view.plan.agent) others.push_back(id);
  }
  return others;
}

}  // namespace fleet
