// A plan as fleetctl reads it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/plan_decision.h"

namespace fleetctl {

struct PlanSight {
  fleet::Reading reading = {};  // its own records, and those of its members
  fleet::PlanView view = {};
};

// Or the exit status, where it cannot be read: that is said. One that is not there has revision 0.
[[nodiscard]] std::variant<PlanSight, int> look_at_plan(Asker& asker, const std::string& name);
// Or the exit status, where it is not there, either.
[[nodiscard]] std::variant<PlanSight, int> see_plan(Asker& asker, const std::string& name);

}  // namespace fleetctl
