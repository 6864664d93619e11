// Makes the texts in which fleetctl shows plans. plans.cc also implements `fleetctl plan run`,
// `list`, `show` and `recover`, which commands.h declares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/reasons/held.h"
#include "fleet/store/store.h"

namespace fleetctl {

// Returns the progress of the plan as a text such as `step 2 of 3 (stop)`.
[[nodiscard]] std::string progress(const fleet::Plan& plan);
// `held` is what the plan waits for before it may begin.
[[nodiscard]] std::vector<std::string> plan_page(const fleet::PlanView& view,
                                                 const fleet::Held& held);

// Functions for wait_for_plan(), which shows the progress of a plan until its end (`fleetctl plan
// run --wait`). It reads the plan's record twice a second, but not those of its members, who may be
// thousands.
struct PlanWait {
  std::function<fleet::Reply<fleet::Reading>(const fleet::Keys& keys)> read;
  std::function<void()> rest;
  std::function<void(const std::string& line)> say;
};

// Waits until the plan has ended. Returns the exit status.
[[nodiscard]] int wait_for_plan(const PlanWait& way, const std::string& name);

}  // namespace fleetctl
