// Decides the orders of people, whether they come by fleetctl, by a document that fleetctl applies,
// or by HTTP: to write, change or erase a record of the cell, or to begin a rollout or a plan. The
// caller first reads the keys that order_reads() returns; decide_order() then decides what is
// written, with the event that tells who has ordered it. Pure.
//
//     desired/COMPONENT, node/ID/desired/COMPONENT    the wished version: put, patch, erase
//     window/GROUP, settings, stop                    put, patch, erase
//     release/COMPONENT/VERSION                       put, which is final
//     rollout/ID                                      put begins it: {"terms": …}; patch orders
//                                                     {"order": "pause"}, none, abort …
//     plan/NAME                                       put begins it: the steps, and its nodes,
//                                                     {"target": …}; erase recovers it
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/creation.h"
#include "fleet/model/keys.h"
#include "fleet/model/transaction.h"
#include "fleet/model/window_view.h"

namespace fleet {

enum class Deed { put, patch, erase };

struct Order {
  Deed deed = Deed::put;
  std::string subject = {};   // the record's key without the root, such as `window/night`
  std::string body = {};      // JSON: the record, or for patch the members to be changed
  bool many_batches = false;  // allows a rollout with more than batches_unasked_max batches
};

// The person who orders, and when.
struct Orderer {
  std::string who = {};
  bool is_proved = false;  // a certificate proves `who`; otherwise it is only a claim
  std::string time = {};   // the time as records show it
  std::string trace = {};  // the trace for the order
  ZoneBook zones = {};     // if empty, names of time zones are not looked up
};

struct OrderRefused {
  enum class Why {
    malformed,  // the order is wrong, whatever records exist
    absent,     // there is no such record
    conflict,   // the record's present state does not allow the order
  };
  Why why = Why::malformed;
  std::string reason = {};
};

struct OrderTaken {
  bool is_new = false;  // the record did not exist before
  // The transactions to write, one after the other; the caller adds the event to the last of them.
  // If the store refuses one, everything is read and decided again. There are none if the record is
  // as ordered already, or if `creation` writes it.
  std::vector<Transaction> parts = {};
  // Writes a rollout or a plan after `parts`: several transactions, each decided from the records
  // that are there.
  std::shared_ptr<Creation> creation = {};
  FleetEvent event = {};
  std::string shown = {};  // the nodes of a rollout or plan that begins, as JSON
};

using OrderDecision = std::variant<OrderRefused, OrderTaken>;

// Returns whether people may order records of this kind.
[[nodiscard]] bool is_orderable(KeyKind kind);

// Returns the keys to read before decide_order(). A key that ends in `/` stands for all keys below
// it.
[[nodiscard]] std::vector<std::string> order_reads(const Order& order);

// Decides an order. `reading` has the records of all keys of order_reads().
[[nodiscard]] OrderDecision decide_order(const Order& order, const Reading& reading,
                                         const Orderer& orderer);

// Adds the event to a transaction, under this number. The store refuses the transaction if the
// number is used already.
void add_event(Transaction& transaction, const FleetEvent& event, std::uint64_t number);
// Adds the event as a note, for a person who may not write the history: the controller that writes
// the history takes the event from the note.
void add_note(Transaction& transaction, const FleetEvent& event);

}  // namespace fleet
