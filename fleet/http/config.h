// Decides about HTTP requests that read or change a record that people may set, such as
// `/v1/config/window/night`, or that apply a whole document (`/v1/apply`). The caller first reads
// the keys of config_reads(). decide_config() then decides what to write, and config_answer() makes
// the response. The rules in fleet/orders/order.h also hold for fleetctl. Does no input or output.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/http/message.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/records/creation.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// Facts that a decision needs besides the request and the records.
struct ConfigMoment {
  std::string time = {};         // the current time, as a text for records
  std::string trace = {};        // an id for the records and events of this order
  std::uint64_t next_event = 0;  // a number for the next event, unused so far
  ZoneBook zones = {};           // finds time zones; if empty, names of zones are not checked
};

// Returns the keys to read before decide_config() is called. A key that ends in `/` stands for all
// keys below it. For a list, returns only one key, whose reading shows the store's revision: the
// records of the list are among very many others, so records_listed() finds them in the
// controller's copy, as soon as the copy has this revision.
[[nodiscard]] std::vector<std::string> config_reads(const Request& request,
                                                    const std::string& rest);

// Returns whether the request asks for a list of records.
[[nodiscard]] bool asks_for_list(const Request& request, const std::string& rest);
// Returns the records that a request for a list asks for, from a copy of all records.
[[nodiscard]] std::vector<KeyValue> records_listed(
    const std::string& rest, const std::map<std::string, KeyValue, std::less<>>& copy);

struct ConfigDecision {
  Response response = {};                       // the response, to be sent after all writes
  std::vector<Transaction> first = {};          // transactions to write first, one after the other
  std::optional<Transaction> transaction = {};  // the last transaction, with the event
  // If not null, this writes a new rollout or plan, and there is no `transaction`.
  std::shared_ptr<Creation> creation = {};
  FleetEvent event = {};  // the event to write when `creation` has succeeded
  // If not 0, the caller must make a lease of this many seconds and call add_lease() before it
  // writes.
  std::int64_t lease_s = 0;
  // false if the request applies a document; the response then has no ETag
  bool is_record = true;

  [[nodiscard]] bool writes() const { return transaction || creation != nullptr; }
};

// Returns a decision to write nothing, and to respond with this status and reason.
[[nodiscard]] ConfigDecision refused(int status, const std::string& reason);

// Decides about a request to read or change a record. `reading` has the records whose keys
// config_reads() has returned, or those of records_listed(). With the parameter `validate=true`,
// the response is the same, but nothing is written.
[[nodiscard]] ConfigDecision decide_config(const Request& request, const std::string& rest,
                                           const Reading& reading, const ConfigMoment& moment);

// Returns the keys to read before decide_apply() is called, or none if the document is wrong.
[[nodiscard]] std::vector<std::string> apply_reads(const Request& request);
// Decides about a request to apply the document in its body. With `validate=true`, the response
// says what would change, and nothing is written.
[[nodiscard]] ConfigDecision decide_apply(const Request& request, const Reading& reading,
                                          const ConfigMoment& moment);

// Attaches the lease to all records of the decision except the event, which stays in the history.
void add_lease(ConfigDecision& decision, LeaseId lease);

// Returns the response to a request for a new rollout or plan, after `decision.creation` has
// succeeded or failed, as `ended` says. `record` is the current record of the rollout or plan.
[[nodiscard]] Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                                       const KeyValue* record);

// Returns the response to a request whose transaction had this outcome. Returns no value if another
// client was faster and changed a record: the caller must then read the records again and decide
// anew.
[[nodiscard]] std::optional<Response> config_answer(const ConfigDecision& decision,
                                                    const Outcome& outcome);

}  // namespace fleet
