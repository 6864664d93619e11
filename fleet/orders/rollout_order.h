// Orders about a rollout: to begin, pause, resume, abort or undo it. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/orders/order.h"

namespace fleet {

[[nodiscard]] std::vector<std::string> needs_of_rollout(const Order& order);

// Decides about an order. `found` is the rollout's record, or null if there is none.
[[nodiscard]] OrderDecision decide_rollout_order(const Order& order, const std::string& id,
                                                 const KeyValue* found, const Reading& reading,
                                                 const Orderer& orderer);

}  // namespace fleet
