// Makes the texts with which fleetctl shows plans to people. plans.cc also implements the commands
// `fleetctl plan run`, `list`, `show` and `recover`, which commands.h declares. `plan run` reads
// the plan from a file that a person has written.
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

// The functions that wait_for_plan() needs. For `fleetctl plan run --wait`, wait_for_plan() shows
// the progress of a plan until the plan has ended. Twice a second, it reads the plan's own record.
// It does not read the records of the plan's members, since there may be thousands of them.
struct PlanWait {
  std::function<fleet::Reply<fleet::Reading>(const fleet::Keys& keys)> read;
  std::function<void()> rest;
  std::function<void(const std::string& line)> say;
};

// Waits until the plan has ended. Returns the exit status.
[[nodiscard]] int wait_for_plan(const PlanWait& way, const std::string& name);

}  // namespace fleetctl
