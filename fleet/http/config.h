// Decides about HTTP requests to read or change the records that people may set, such as
// `/v1/config/window/night`, or to apply a whole document (`/v1/apply`). The caller first reads the
// keys that config_reads() returns. Then decide_config() decides what to write, and config_answer()
// makes the response. fleet/orders/order.h decides which orders are allowed, both for HTTP and for
// fleetctl. Does no input or output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/http/message.h"
#include "fleet/model/creation.h"
#include "fleet/model/transaction.h"
#include "fleet/model/windows.h"

namespace fleet {

// The time, ids and time zones that a decision needs besides the request and the records.
struct ConfigMoment {
  std::string time = {};         // the present time, as a text for records
  std::string trace = {};        // an id for the records and events of this order
  std::uint64_t next_event = 0;  // a number for the next event that is not used in the store yet
  ZoneBook zones = {};           // finds time zones; if empty, names of zones are not checked
};

// Returns the keys that must be read before decide_config(). A key that ends in `/` stands for all
// keys that begin with it.
[[nodiscard]] std::vector<std::string> config_reads(const Request& request,
                                                    const std::string& rest);

struct ConfigDecision {
  Response response = {};                       // the response to send when everything is written
  std::vector<Transaction> first = {};          // transactions to write first, one after the other
  std::optional<Transaction> transaction = {};  // the last transaction, with the event
  // If set, writes all records of a new rollout or plan. Then there is no `transaction`.
  std::shared_ptr<Creation> creation = {};
  FleetEvent event = {};  // the event to write when `creation` has succeeded
  // If not 0, the caller first makes a lease of so many seconds, and calls add_lease().
  std::int64_t lease_s = 0;
  // False if the request is for a document, so that the response has no tag of a record.
  bool is_record = true;

  [[nodiscard]] bool writes() const { return transaction || creation != nullptr; }
};

// Returns a decision to write nothing, and to respond with this status and reason.
[[nodiscard]] ConfigDecision refused(int status, const std::string& reason);

// Decides about a request. `reading` contains all records whose keys config_reads() returns. A
// request with the parameter `validate=true` gets the same response, but nothing is written.
[[nodiscard]] ConfigDecision decide_config(const Request& request, const std::string& rest,
                                           const Reading& reading, const ConfigMoment& moment);

// Returns the keys that must be read before decide_apply(). Returns none if the document is wrong.
[[nodiscard]] std::vector<std::string> apply_reads(const Request& request);
// Decides about a request to apply the document in its body. With `validate=true`, the response
// says what would change, and nothing is written.
[[nodiscard]] ConfigDecision decide_apply(const Request& request, const Reading& reading,
                                          const ConfigMoment& moment);

// Gives the lease to all records of the decision, but not to the event.
void add_lease(ConfigDecision& decision, LeaseId lease);

// Returns the response to a request for a new rollout or plan. Called when `decision.creation` has
// written the records or has failed, as `ended` says. `record` is the present record of the rollout
// or plan.
[[nodiscard]] Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                                       const KeyValue* record);

// Returns the response to a request after its transaction. Returns no value if another client has
// written at the same time. The caller must then read the records again and decide anew.
[[nodiscard]] std::optional<Response> config_answer(const ConfigDecision& decision,
                                                    const Outcome& outcome);

}  // namespace fleet
