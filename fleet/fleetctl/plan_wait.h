// fleetctl plan run --wait: prints how far a plan is, until it has ended. Reads only the plan's own
// record, not those of its members: a plan may have thousands of them, and it is read twice a
// second.
#pragma once

#include <functional>
#include <string>

#include "fleet/store/store.h"

namespace fleetctl {

struct PlanWait {
  std::function<fleet::Reply<fleet::Reading>(const fleet::Keys& keys)> read;
  std::function<void()> rest;
  std::function<void(const std::string& line)> say;
};

// Waits until the plan has ended. Returns the exit status.
[[nodiscard]] int wait_for_plan(const PlanWait& way, const std::string& name);

}  // namespace fleetctl
