// What a person may order, whether by fleetctl, by a document that fleetctl applies, or by HTTP:
// that a record of the cell is written, changed or erased, a rollout or a plan begun. An order is
// first given what it needs to be read, then decides what is written, with the event that says who
// has ordered it. Pure.
//
//     desired/COMPONENT, node/ID/desired/COMPONENT    what should run
//     window/GROUP, settings, stop                    put, patch, erase
//     release/COMPONENT/VERSION                       put, once and for all
//     rollout/ID                                      put begins it: {"terms": …}; patch tells it
//                                                     {"order": "pause"}, none, abort …
//     plan/NAME                                       put begins it: the steps, and whom it is
//                                                     for, {"target": …}; erase recovers it
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
  std::string subject = {};   // the record's key without the root: `window/night`
  std::string body = {};      // JSON: the record, or for patch what is to be different in it
  bool many_batches = false;  // a rollout may have more of them than batches_unasked_max
};

// Who orders, and when.
struct Orderer {
  std::string who = {};
  bool is_proved = false;  // by a certificate; otherwise it is what the orderer says
  std::string time = {};   // as records show it
  std::string trace = {};  // of what is ordered here
  ZoneBook zones = {};     // none: names of time zones are not looked up
};

struct OrderRefused {
  enum class Why {
    malformed,  // the order is wrong, whatever stands in the store
    absent,     // there is no such record
    conflict,   // the record is not in a state in which it takes the order
  };
  Why why = Why::malformed;
  std::string reason = {};
};

struct OrderTaken {
  bool is_new = false;  // the record was not there
  // One after the other; the last of them says what was ordered, too. If one is refused by the
  // store, all is read and decided again. Empty: it is so already, or `creation` writes it.
  std::vector<Transaction> parts = {};
  // What takes several transactions, each decided on what stands there; after `parts`.
  std::shared_ptr<Creation> creation = {};
  FleetEvent event = {};
  std::string shown = {};  // of what begins: who takes part, as JSON
};

using OrderDecision = std::variant<OrderRefused, OrderTaken>;

// Whether a record of this kind may be ordered.
[[nodiscard]] bool is_orderable(KeyKind kind);

// The keys that are to be read first; those that end in `/` with all below.
[[nodiscard]] std::vector<std::string> order_reads(const Order& order);

// `reading` is all that was asked for.
[[nodiscard]] OrderDecision decide_order(const Order& order, const Reading& reading,
                                         const Orderer& orderer);

// Lets a transaction write the event under this number, which must be free.
void add_event(Transaction& transaction, const FleetEvent& event, std::uint64_t number);
// The same for one who may not write the history: whoever writes it takes the event from there.
void add_note(Transaction& transaction, const FleetEvent& event);

}  // namespace fleet
