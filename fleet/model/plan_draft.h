// A plan before it begins: whether what a person wrote can be run, and how it is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/creation.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

inline constexpr std::int64_t step_timeout_ms_min = 1'000;
inline constexpr std::int64_t step_timeout_ms_max = 86'400'000;

// Why it cannot be run; none: it can.
[[nodiscard]] std::optional<std::string> why_no_plan(const Plan& plan);

// The ground on which a plan is begun.
struct PlanGround {
  Revision release = 0;        // of its component, where it has one
  Revision agent_release = 0;  // of fleet-agent, where it names one
  Desired desired = {};        // of that component
  Revision desired_revision = 0;
};

// The next transaction that writes a new plan; no value when all of it is written. The part that
// stands there already is `written`, so that after an unknown outcome, or a death, reading again
// tells how to go on. It is `created` until all its members are written; the transaction that
// writes the last of them makes it run, and says that its component's version is pending. The store
// refuses each of them while there is `stop`, the first where there is a plan or a rollout of that
// name, and the last when a record of `ground` has changed since it was read.
using WrittenPlan = Written<Plan>;
[[nodiscard]] std::optional<Transaction> next_creation(const std::string& name, const Plan& wanted,
                                                       const std::vector<std::string>& members,
                                                       const PlanGround& ground,
                                                       const std::optional<WrittenPlan>& written);

}  // namespace fleet
