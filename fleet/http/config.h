// Requests for the records that people set, such as `/v1/config/window/night`. The caller reads the
// keys that config_reads() names; decide_config() then says what is written, and config_answer()
// makes the response. fleet/orders/order.h decides which orders are taken, for HTTP and fleetctl
// alike. Pure.
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
  std::string time = {};         // as records show it
  std::string trace = {};        // of what is ordered here
  std::uint64_t next_event = 0;  // the number behind the last event
  ZoneBook zones = {};           // if empty, names of time zones are not looked up
};

// The keys to read before decide_config(). A key that ends in `/` stands for all keys below it.
[[nodiscard]] std::vector<std::string> config_reads(const Request& request,
                                                    const std::string& rest);

struct ConfigDecision {
  Response response = {};                       // once it is written
  std::vector<Transaction> first = {};          // written before `transaction` or `creation`
  std::optional<Transaction> transaction = {};  // with the event that it was ordered
  std::shared_ptr<Creation> creation = {};      // writes it, in place of a transaction
  FleetEvent event = {};                        // the order's event, written after a creation

  [[nodiscard]] bool writes() const { return transaction || creation != nullptr; }
};

// A decision that writes nothing and answers with this problem.
[[nodiscard]] ConfigDecision refused(int status, const std::string& reason);

// `reading` has the records of all these keys. A request with `validate=true` is answered as if it
// were done, and is not.
[[nodiscard]] ConfigDecision decide_config(const Request& request, const std::string& rest,
                                           const Reading& reading, const ConfigMoment& moment);

// The response once `creation` has ended; `record` is the one that stands there now.
[[nodiscard]] Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                                       const KeyValue* record);

// The response once the transaction has ended. No value if somebody else has written meanwhile:
// then the caller reads and decides again.
[[nodiscard]] std::optional<Response> config_answer(const ConfigDecision& decision,
                                                    const Outcome& outcome);

}  // namespace fleet
