// Decides about HTTP requests to read or change the records that people may set, such as
// `/v1/config/window/night`. The caller first reads the keys that config_reads() returns. Then
// decide_config() decides what to write, and config_answer() makes the response.
// fleet/orders/order.h decides which orders are allowed, for HTTP and fleetctl alike. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/http/message.h"
#include "fleet/http/route.h"
#include "fleet/model/creation.h"
#include "fleet/model/transaction.h"
#include "fleet/model/window_view.h"

namespace fleet {

// The facts about this moment that a decision needs besides the records.
struct ConfigMoment {
  std::string time = {};         // the present time, as a text for records
  std::string trace = {};        // an id for the records and events of this order
  std::uint64_t next_event = 0;  // number for the next event; free in the store
  ZoneBook zones = {};           // finds time zones; if empty, their names are not checked
};

// Returns the keys to read before decide_config(). A key that ends in `/` stands for all keys below
// it.
[[nodiscard]] std::vector<std::string> config_reads(const Request& request,
                                                    const std::string& rest);

struct ConfigDecision {
  Response response = {};                       // the response to send when everything is written
  std::vector<Transaction> first = {};          // transactions to write first, one after the other
  std::optional<Transaction> transaction = {};  // the last transaction, with the event
  // If set, makes all records of a new rollout or plan, in place of `transaction`.
  std::shared_ptr<Creation> creation = {};
  FleetEvent event = {};  // the event to write when `creation` has succeeded

  [[nodiscard]] bool writes() const { return transaction || creation != nullptr; }
};

// Returns a decision that writes nothing, with this status and reason as the response.
[[nodiscard]] ConfigDecision refused(int status, const std::string& reason);

// Decides about a request. `reading` has all records that config_reads() names. A request with
// `validate=true` gets the same response, but nothing is written.
[[nodiscard]] ConfigDecision decide_config(const Request& request, const std::string& rest,
                                           const Reading& reading, const ConfigMoment& moment);

// Returns the response to a request for a new rollout or plan, when `decision.creation` has written
// its records, or has failed to: `ended` says which. `record` is the present record of the rollout
// or plan.
[[nodiscard]] Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                                       const KeyValue* record);

// Returns the response after the transaction. Returns no value if another client has written at the
// same time. The caller must then read and decide again.
[[nodiscard]] std::optional<Response> config_answer(const ConfigDecision& decision,
                                                    const Outcome& outcome);

}  // namespace fleet
