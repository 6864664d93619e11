// Decides whether a new plan that a person has written can run, and writes its records to the
// store.
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

// Returns why the plan cannot run, or no value if it can.
[[nodiscard]] std::optional<std::string> why_no_plan(const Plan& plan);

// The state of the records that must not change until the plan begins: revisions and the desired
// version.
struct PlanGround {
  // Revision of the record of the component's release; 0: the plan has no component.
  Revision release = 0;
  // Revision of the record of the release of fleet-agent; 0: the plan names none.
  Revision agent_release = 0;
  Desired desired = {};  // the desired version of the plan's component
  Revision desired_revision = 0;
};

// Returns the next transaction that writes a new plan, or no value if everything is written.
// `written` is the plan's record, which the caller reads from the store before each call; it has no
// value before the first transaction. The plan's state is `created` until the records of all its
// members are written. The last transaction sets the state to `running`, and the desired version of
// the plan's component to the plan's version, as pending. The store refuses:
// - each transaction, if the record `stop` exists;
// - the first one, if a plan or a rollout has this name;
// - the last one, if a release or the desired version is at another revision than in `ground`.
using WrittenPlan = Written<Plan>;
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
