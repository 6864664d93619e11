// Writes the records of a new plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/creation.h"
#include "fleet/model/plan_draft.h"

namespace fleet {

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
