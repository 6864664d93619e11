// Upgrades fleet-agent on the members of a plan, before the plan's first step. This is done by a
// rollout like any other, except that the plan's driver begins it.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/plan_decision.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns the name of the rollout. The name differs for each run of the plan, since it is part of
// the ids of commands. With the same ids, nodes would only repeat the answers of the earlier run.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Adds all records of the rollout to the transaction: a batch of one node, then the others. `nodes`
// must be sorted. Returns false if the name is not valid for a rollout, or if the nodes do not fit
// into one transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes);

// Returns whether the rollout will begin or is under way, and not paused.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

// Returns whether the plan's rollout of fleet-agent is under way. As long as it is, a member that
// runs the new fleet-agent has it on trial, and may go back to the old one.
[[nodiscard]] bool is_agent_under_way(const PlanView& view);

// Returns the members whose version of fleet-agent is not the one that the plan names.
[[nodiscard]] std::vector<std::string> those_of_other_agents(const PlanView& view);

}  // namespace fleet
