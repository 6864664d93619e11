// Reads a plan for fleetctl.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/plan_decision.h"

namespace fleetctl {

struct PlanSight {
  fleet::Reading reading = {};  // all records of the plan, those of its members included
  fleet::PlanView view = {};
};

// Reads the plan. If it does not exist, that is no error: the result has revision 0. If it cannot
// be read, prints an error, and returns the exit status.
[[nodiscard]] std::variant<PlanSight, int> look_at_plan(Asker& asker, const std::string& name);
// Reads the plan. If it does not exist or cannot be read, prints an error, and returns the exit
// status.
[[nodiscard]] std::variant<PlanSight, int> see_plan(Asker& asker, const std::string& name);

}  // namespace fleetctl
