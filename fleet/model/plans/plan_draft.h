// This file checks a new plan that a person has written, and makes the transactions that write its
// records.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/creation.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

inline constexpr std::int64_t step_timeout_ms_min = 1'000;
inline constexpr std::int64_t step_timeout_ms_max = 86'400'000;

// Returns what is wrong with the plan, or no value if it can run.
[[nodiscard]] std::optional<std::string> why_no_plan(const Plan& plan);

// The records from which the plan was made, and which must not change until the plan begins: two
// releases and the desired version.
struct PlanGround {
  // The revision of the record of the component's release; 0 if the plan has no component.
  Revision release = 0;
  // The revision of the record of fleet-agent's release; 0 if the plan leaves fleet-agent as it is.
  Revision agent_release = 0;
  Desired desired = {};  // the desired version of the plan's component
  Revision desired_revision = 0;
};

using WrittenPlan = Written<Plan>;

// Returns the next transaction that writes a new plan, or no value if everything is written.
// `written` is the plan's record, which the caller reads from the store before each call; it has no
// value before the first transaction. The plan's state is `created` until the records of all its
// members are written. The last transaction sets the state to `running`. If the plan has a
// component, the last transaction also sets the desired version of this component to the plan's
// version. The desired version is marked as pending: no node moves to it until the plan's migration
// is done. The store refuses:
// - each transaction, if the record `stop` exists;
// - the first transaction, if a plan or a rollout already has this name;
// - the last transaction, if a release or the desired version has another revision than in
//   `ground`.
[[nodiscard]] std::optional<Transaction> next_creation(const std::string& name, const Plan& wanted,
                                                       const std::vector<std::string>& members,
                                                       const PlanGround& ground,
                                                       const std::optional<WrittenPlan>& written);

// Writes the records of a new plan.
class PlanCreation : public Creation {
 public:
  // `members` are the names of the nodes, sorted.
  PlanCreation(std::string name, Plan wanted, std::vector<std::string> members, PlanGround ground);

 private:
  [[nodiscard]] agent_protocol::Result<std::optional<Transaction>> what_is_left(
      const KeyValue* found) const override;

  std::string name_;
  Plan wanted_;
  std::vector<std::string> members_;
  PlanGround ground_;
};

}  // namespace fleet
