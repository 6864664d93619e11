// Decides requests for the records that people set, such as `/v1/config/window/night`. The caller
// reads the keys that config_reads() returns; decide_config() then decides what is written, and
// config_answer() makes the response. fleet/orders/order.h decides which orders are accepted, for
// HTTP and fleetctl alike. Pure.
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

// The facts that a decision needs.
struct ConfigMoment {
  std::string time = {};         // the time as records show it
  std::string trace = {};        // the trace for the order
  std::uint64_t next_event = 0;  // the number after the last event's
  ZoneBook zones = {};           // if empty, names of time zones are not looked up
};

// Returns the keys to read before decide_config(). A key that ends in `/` stands for all keys below
// it.
[[nodiscard]] std::vector<std::string> config_reads(const Request& request,
                                                    const std::string& rest);

struct ConfigDecision {
  Response response = {};                       // the response when everything is written
  std::vector<Transaction> first = {};          // written before `transaction` or `creation`
  std::optional<Transaction> transaction = {};  // includes the event that tells of the order
  std::shared_ptr<Creation> creation = {};  // writes a rollout or a plan, instead of `transaction`
  FleetEvent event = {};                    // the order's event, written after a creation

  [[nodiscard]] bool writes() const { return transaction || creation != nullptr; }
};

// Returns a decision that writes nothing and answers with this problem.
[[nodiscard]] ConfigDecision refused(int status, const std::string& reason);

// Decides a request. `reading` has the records of all keys of config_reads(). A request with
// `validate=true` is answered as if it had been carried out, but writes nothing.
[[nodiscard]] ConfigDecision decide_config(const Request& request, const std::string& rest,
                                           const Reading& reading, const ConfigMoment& moment);

// Returns the response after `creation` has ended; `record` is the rollout's or plan's record now.
[[nodiscard]] Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                                       const KeyValue* record);

// Returns the response after the transaction has ended, or no value if somebody else has written
// meanwhile: then the caller reads and decides again.
[[nodiscard]] std::optional<Response> config_answer(const ConfigDecision& decision,
                                                    const Outcome& outcome);

}  // namespace fleet
