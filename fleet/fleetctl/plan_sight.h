// A plan as fleetctl reads it.
#pragma once

#include <string>
#include <variant>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/plan_decision.h"

namespace fleetctl {

struct PlanSight {
  fleet::Reading reading = {};  // its own records, and those of its members
  fleet::PlanView view = {};
};

// Or the exit status, where it cannot be read, or is not there: that is said.
[[nodiscard]] std::variant<PlanSight, int> see_plan(Asker& asker, const std::string& name);

}  // namespace fleetctl
