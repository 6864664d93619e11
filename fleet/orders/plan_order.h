// Decides about orders of people to begin a plan, or to recover it, which erases the records of its
// last run. Does no input or output.
#pragma once

#include <string>
#include <vector>

#include "fleet/orders/order.h"

namespace fleet {

[[nodiscard]] std::vector<std::string> needs_of_plan(const Order& order, const std::string& name);

[[nodiscard]] OrderDecision decide_plan_order(const Order& order, const std::string& name,
                                              const Reading& reading, const Orderer& orderer);

}  // namespace fleet
