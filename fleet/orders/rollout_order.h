// Decides about orders of people to begin, pause, resume, abort or undo a rollout. Does no input or
// output.
#pragma once

#include <string>
#include <vector>

#include "fleet/orders/order.h"

namespace fleet {

[[nodiscard]] std::vector<std::string> needs_of_rollout(const Order& order);

// Decides about an order. `found` is the rollout's record, or null if the rollout does not exist.
[[nodiscard]] OrderDecision decide_rollout_order(const Order& order, const std::string& id,
                                                 const KeyValue* found, const Reading& reading,
                                                 const Orderer& orderer);

}  // namespace fleet
