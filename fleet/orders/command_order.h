// Decides about a person's order to send a command to one node, such as `node/n1/command/agent`.
// The records of a command have a lease, so that the store erases them when the command must no
// longer begin. Does no input or output.
#pragma once

#include <string>
#include <vector>

#include "fleet/orders/order.h"

namespace fleet {

[[nodiscard]] std::vector<std::string> needs_of_command(const Order& order, const ParsedKey& key);

// Decides about the command. The order's body has the command's action, and optionally version,
// reason, downgrade and not_after_ms. Refuses while a rollout, a desired version or another command
// has a claim on the node.
[[nodiscard]] OrderDecision decide_command_order(const Order& order, const ParsedKey& key,
                                                 const Reading& reading, const Orderer& orderer);

}  // namespace fleet
