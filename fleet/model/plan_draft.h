// A plan before it begins: whether what a person wrote can be run, and how it is written.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/wire/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

inline constexpr std::int64_t step_timeout_ms_min = 1'000;
inline constexpr std::int64_t step_timeout_ms_max = 86'400'000;

// Why it cannot be run; none: it can. Its members are not looked at.
[[nodiscard]] std::optional<std::string> why_no_plan(const Plan& plan);

// What a plan is begun on.
struct PlanGround {
  Revision release = 0;        // of its component, where it has one
  Revision agent_release = 0;  // of fleet-agent, where it names one
  Desired desired = {};        // of that component
  Revision desired_revision = 0;
};

// Writes the plan and, in the same transaction, that its component's version is pending. The store
// refuses it while there is `stop`, or a plan or a rollout of that name, or when a record of
// `ground` has changed since it was read.
[[nodiscard]] Transaction plan_creation(const std::string& name, Plan plan,
                                        const PlanGround& ground);

}  // namespace fleet
