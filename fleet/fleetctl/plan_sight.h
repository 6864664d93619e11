// Reads a plan for fleetctl.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/plan_decision.h"

namespace fleetctl {

struct PlanSight {
  fleet::Reading reading = {};  // the plan's own records, and those of its members
  fleet::PlanView view = {};
};

// Returns the plan, or the exit status if it cannot be read, of which the user has been told. A
// plan that does not exist has revision 0.
[[nodiscard]] std::variant<PlanSight, int> look_at_plan(Asker& asker, const std::string& name);
// Returns the plan, or the exit status if it cannot be read or does not exist.
[[nodiscard]] std::variant<PlanSight, int> see_plan(Asker& asker, const std::string& name);

}  // namespace fleetctl
