// The rollout that brings the fleet-agent that a plan names to the plan's members, before the first
// step. It is a rollout like any other, except that the plan's driver begins it.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns a name of its own for each run of the plan: otherwise the commands of an earlier run
// would count as answered.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Adds the whole rollout to the transaction: a batch of one node, then the others. `nodes` must be
// sorted. Returns false if no rollout can have its name, or if the nodes do not fit into one
// transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes);

// Returns whether the rollout has begun or will begin, and nobody has paused it.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

}  // namespace fleet
