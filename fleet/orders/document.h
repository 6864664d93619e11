// This file applies a JSON document that describes what a cell should be. People may keep the
// document in git:
//
//     {"desired": {"agent": {"version": "1.2.0"}},
//      "window": {"all": {"start": "01:00", "duration_s": 7200, "time_zone": "UTC"}},
//      "settings": {"keep": "30d"},
//      "rollout": {"spring": {"component": "web", "version": "2.0", "target": "*"}},
//      "plan": {"move": {"version": "3", "steps": […], "target": "web*"}}}
//
// One transaction replaces all records that the document names; other records stay as they are. A
// rollout or a plan in the document is not begun again if it already exists with these terms, or if
// it has ended and its records were erased. This file does no input or output.
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

// Returns the orders that a document contains, sorted by kind and name. Returns a Refusal if the
// text is not a valid document.
[[nodiscard]] agent_protocol::Result<std::vector<Order>> orders_in(std::string_view document);

[[nodiscard]] std::vector<std::string> document_reads(const std::vector<Order>& orders);

struct DocumentChange {
  std::string subject = {};
  // The differences: one line for each changed member, such as `start: "01:00" -> "02:00"`. If the
  // record is new, or if the order begins a rollout or plan, there is only one line, which says
  // that.
  std::vector<std::string> lines = {};
};

struct DocumentDecision {
  std::vector<DocumentChange> changes = {};  // one for each record that has to change
  // Lines for the person about records that are not changed although the document names them: each
  // line says why the record stays as it is.
  std::vector<std::string> notes = {};
  // The transaction that makes all changes of the document.
  Transaction transaction = {};
  FleetEvent event = {};  // the event for the history
};

// Decides about all orders of a document together. If one order is refused, nothing is written. The
// reason of the refusal then begins with the key of the refused order's record.
[[nodiscard]] std::variant<OrderRefused, DocumentDecision> decide_document(
    const std::vector<Order>& orders, const Reading& reading, const Orderer& orderer);

}  // namespace fleet
