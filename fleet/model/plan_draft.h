// A plan before it begins: decides whether the plan that a person wrote can run, and writes it to
// the store.
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

// Returns why the plan cannot run, or nothing if it can.
[[nodiscard]] std::optional<std::string> why_no_plan(const Plan& plan);

// The records that a plan begins from.
struct PlanGround {
  Revision release = 0;        // of the component's release, if the plan has a component
  Revision agent_release = 0;  // of fleet-agent's release, if the plan names one
  Desired desired = {};        // of the plan's component
  Revision desired_revision = 0;
};

// Returns the next transaction that writes a new plan, or no value when all of it is written.
// `written` is the part that is in the store already: after an unknown outcome or a crash, the
// caller reads it again and goes on from there. The plan is `created` until all its members are
// written. The transaction that writes the last members makes the plan run, and marks its
// component's version as pending. The store refuses each transaction while the record `stop`
// exists, the first one if a plan or a rollout has that name, and the last one if a record of
// `ground` has changed since it was read.
using WrittenPlan = Written<Plan>;
[[nodiscard]] std::optional<Transaction> next_creation(const std::string& name, const Plan& wanted,
                                                       const std::vector<std::string>& members,
                                                       const PlanGround& ground,
                                                       const std::optional<WrittenPlan>& written);

}  // namespace fleet
