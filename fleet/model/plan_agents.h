// Upgrades fleet-agent on the members of a plan, before the plan's first step. This is done by a
// rollout like any other, except that the plan's driver begins it.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/plan_decision.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns the name of the rollout that upgrades fleet-agent for this plan. The name is a part of
// the ids of commands. It differs for each run of the plan: nodes would answer a command with the
// same id by the answer of the earlier run.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Adds all records of the rollout to the transaction. The first batch has one node; the others
// follow in batches of the largest size. `nodes` must be sorted. Returns false if the name is not
// valid for a rollout, or if the records do not fit into one transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes);

// Returns whether the rollout will begin or is under way. A paused rollout is not under way.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

// Returns whether the plan's rollout of fleet-agent is under way. As long as it is, a member that
// runs the new fleet-agent has it on trial, and may go back to the old one.
[[nodiscard]] bool is_agent_under_way(const PlanView& view);

// Returns the members whose version of fleet-agent is not the one that the plan names.
[[nodiscard]] std::vector<std::string> those_of_other_agents(const PlanView& view);

}  // namespace fleet
