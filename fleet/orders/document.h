// This file applies a JSON document that describes what a cell should be. People may keep the
// document in git:
//
//     {"desired": {"agent": {"version": "1.2.0"}},
//      "window": {"all": {"start": "01:00", "duration_s": 7200, "time_zone": "UTC"}},
//      "settings": {"keep": "30d"},
//      "rollout": {"spring": {"component": "web", "version": "2.0", "target": "*"}},
//      "plan": {"move": {"version": "3", "steps": […], "target": "web*"}}}
//
// One transaction writes all records that the document names; other records stay as they are. A
// rollout or a plan in the document is not begun if it exists already with the same terms, or if
// the history says that it has ended. This file does no input or output.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/orders/order.h"

namespace fleet {

inline constexpr std::size_t document_changes_max = 100;
inline constexpr std::size_t document_bytes_max = 262'144;

// Returns the orders that a document contains, sorted by subject. Returns a Refusal if the text is
// not a valid document.
[[nodiscard]] agent_protocol::Result<std::vector<Order>> orders_in(std::string_view document);

[[nodiscard]] std::vector<std::string> document_reads(const std::vector<Order>& orders);

struct DocumentChange {
  std::string subject = {};
  // One line for each changed member, such as `start: "01:00" -> "02:00"`. If the record is new, or
  // if a rollout or plan begins, a single line says this.
  std::vector<std::string> lines = {};
};

struct DocumentDecision {
  std::vector<DocumentChange> changes = {};  // one for each record that has to change
  // Lines for the person: each line names a record that stays as it is, although the document has
  // it, and says why.
  std::vector<std::string> notes = {};
  // The transaction that makes all changes of the document.
  Transaction transaction = {};
  FleetEvent event = {};  // the event for the history
};

// Decides about all orders of a document together. If one order is refused, the whole document is
// refused, and the reason begins with the subject of that order.
[[nodiscard]] std::variant<OrderRefused, DocumentDecision> decide_document(
    const std::vector<Order>& orders, const Reading& reading, const Orderer& orderer);

}  // namespace fleet
