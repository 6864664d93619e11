// The rollout by which a plan's members come to the fleet-agent that the plan names, before its
// first step: a rollout as any other, but that the plan's driver begins it.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// One for each run of the plan: the commands of another would count as answered.
[[nodiscard]] std::string agent_rollout_id(const std::string& name, const Plan& plan);

// Writes it whole: one node, then the others. `nodes` are sorted. False: no rollout can be called
// so, or so many nodes do not fit into one transaction.
[[nodiscard]] bool put_agent_rollout(Transaction& transaction, const std::string& name,
                                     const Plan& plan, const std::vector<std::string>& nodes);

// It has begun or will begin, and nobody has paused it.
[[nodiscard]] bool is_under_way(const Rollout& rollout);

}  // namespace fleet
