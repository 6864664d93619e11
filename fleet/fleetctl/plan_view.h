// Shows plans to people. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/plan_decision.h"

namespace fleetctl {

// Returns how far the plan is, such as `step 2 of 3 (stop)`.
[[nodiscard]] std::string progress(const fleet::Plan& plan);
[[nodiscard]] std::vector<std::string> plan_page(const fleet::PlanView& view);

}  // namespace fleetctl
