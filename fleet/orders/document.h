// What a cell should be, as one JSON document that may stand in git:
//
//     {"desired": {"agent": {"version": "1.2.0"}},
//      "window": {"all": {"start": "01:00", "duration_s": 7200, "time_zone": "UTC"}},
//      "settings": {"keep": "30d"},
//      "rollout": {"spring": {"component": "web", "version": "2.0", "target": "*"}},
//      "plan": {"move": {"version": "3", "steps": […], "target": "web*"}}}
//
// What it names is replaced whole, in one transaction; what it does not name is left alone. A
// rollout or a plan that is there with the same terms, or has ended and is gone, is not begun
// again. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fleet/model/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

inline constexpr std::size_t document_changes_max = 100;
inline constexpr std::size_t document_bytes_max = 262'144;

// In the order of their subjects. Refused: it is no such document.
[[nodiscard]] agent_protocol::Result<std::vector<Order>> orders_in(std::string_view document);

[[nodiscard]] std::vector<std::string> document_reads(const std::vector<Order>& orders);

struct DocumentChange {
  std::string subject = {};
  // What is different, a line each: `start: "01:00" -> "02:00"`; or that it is new, or begins.
  std::vector<std::string> lines = {};
};

struct DocumentDecision {
  std::vector<DocumentChange> changes = {};  // none: all is as the document says
  Transaction transaction = {};              // writes all of them
  FleetEvent event = {};                     // that the document was applied
};

// Refused: why nothing is written, behind the subject of the order that cannot be.
[[nodiscard]] agent_protocol::Result<DocumentDecision> decide_document(
    const std::vector<Order>& orders, const Reading& reading, const Orderer& orderer);

}  // namespace fleet
