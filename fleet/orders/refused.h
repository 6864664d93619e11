// Functions that make the refusal of an order, one for each kind of refusal.
#pragma once

#include <string>
#include <utility>

#include "fleet/orders/order.h"

namespace fleet {

[[nodiscard]] inline OrderRefused malformed(std::string reason) {
  return {OrderRefused::Why::malformed, std::move(reason)};
}
[[nodiscard]] inline OrderRefused absent(std::string reason) {
  return {OrderRefused::Why::absent, std::move(reason)};
}
[[nodiscard]] inline OrderRefused conflict(std::string reason) {
  return {OrderRefused::Why::conflict, std::move(reason)};
}

}  // namespace fleet
