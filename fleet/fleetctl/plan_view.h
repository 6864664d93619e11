// Shows plans to people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/model/plan_decision.h"
#include "fleet/store/store.h"

namespace fleetctl {

// Returns how far the plan is, such as `step 2 of 3 (stop)`.
[[nodiscard]] std::string progress(const fleet::Plan& plan);
[[nodiscard]] std::vector<std::string> plan_page(const fleet::PlanView& view);

// fleetctl plan run --wait: prints how far a plan is, until it has ended. Reads only the plan's own
// record, not those of its members: a plan may have thousands of them, and it is read twice a
// second.
struct PlanWait {
  std::function<fleet::Reply<fleet::Reading>(const fleet::Keys& keys)> read;
  std::function<void()> rest;
  std::function<void(const std::string& line)> say;
};

// Waits until the plan has ended. Returns the exit status.
[[nodiscard]] int wait_for_plan(const PlanWait& way, const std::string& name);

}  // namespace fleetctl
