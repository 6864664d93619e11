// This file decides about the orders of people: to write, change or erase a record of the cell, or
// to begin a rollout or a plan. A person gives orders by fleetctl, by HTTP, or in a document. The
// caller first reads the records whose keys order_reads() returns. Then decide_order() decides what
// to write to the store, and makes the event by which the history names the person. This file does
// no input or output.
//
// Put, patch and erase are the three kinds of orders about a record:
//
//     desired/COMPONENT, node/ID/desired/COMPONENT    put, patch and erase the desired version
//     window/GROUP, settings, stop                    put, patch, erase
//     release/COMPONENT/VERSION                       put; no order changes a published release
//     node/ID/command/COMPONENT                       put sends the node a command
//     rollout/ID                                      put, with {"terms": …}, begins a rollout;
//                                                     patch, with {"order": "pause"}, "none" for
//                                                     a resume, "abort" …, steers the rollout
//     plan/NAME                                       put, with the steps and {"target": …},
//                                                     begins a plan; erase removes the records of
//                                                     the plan's run, so that a next run can begin
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/model/drivers/windows.h"
#include "fleet/model/history/events.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/creation.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

enum class Deed { put, patch, erase };

struct Order {
  Deed deed = Deed::put;
  std::string subject = {};   // the record's key without /fleet/v1/, such as `window/night`
  std::string body = {};      // JSON: the whole record; for a patch, only the members to change
  bool many_batches = false;  // allows a rollout with more than batches_unasked_max batches
};

// The person who gives an order, and the time of the order.
struct Orderer {
  std::string who = {};
  bool is_proved = false;  // true if `who` was read from a certificate
  std::string time = {};   // the current time, as a string for records
  std::string trace = {};  // an id for the records and events of this order
  ZoneBook zones = {};     // finds time zones; if empty, names of time zones are not checked
};

struct OrderRefused {
  enum class Why {
    malformed,  // the order is wrong, whatever records exist
    absent,     // the order changes or erases a record that does not exist
    conflict,   // the existing records do not allow the order
  };
  Why why = Why::malformed;
  std::string reason = {};
};

struct OrderTaken {
  bool is_new = false;  // true if the record did not exist before the order
  // The transactions to write, one after the other. The caller adds the event to the last
  // transaction. If the store refuses a transaction, the caller reads the records again, and calls
  // decide_order() again. The list may be empty.
  std::vector<Transaction> parts = {};
  // If not null, this object makes the further transactions that write a new rollout or plan. The
  // caller writes them after `parts`, and reads the store before each of them.
  std::shared_ptr<Creation> creation = {};
  // If not 0, the caller first requests a lease of this many seconds from the store, and attaches
  // the lease to all records in `parts` by add_lease(). The store erases these records when the
  // lease ends.
  std::int64_t lease_s = 0;
  FleetEvent event = {};
  std::string shown = {};  // JSON: the nodes of a new rollout or plan, or the id of a command
};

using OrderDecision = std::variant<OrderRefused, OrderTaken>;

// Returns whether people may give orders about records of this kind.
[[nodiscard]] bool is_orderable(KeyKind kind);

// Returns the keys that must be read before decide_order() is called. A key that ends in `/` stands
// for all keys with this prefix.
[[nodiscard]] std::vector<std::string> order_reads(const Order& order);

// Decides about an order. `reading` must have the records of all keys that order_reads() returns.
[[nodiscard]] OrderDecision decide_order(const Order& order, const Reading& reading,
                                         const Orderer& orderer);

// Attaches the lease to all records that the order writes.
void add_lease(OrderTaken& taken, LeaseId lease);

// These functions make the three kinds of refusals.
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
