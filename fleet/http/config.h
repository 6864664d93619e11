// What people set, as HTTP has it: `/v1/config/window/night` and the like. A request is first given
// what it needs to be read, then decides what is written, then says what came of it. What may be
// ordered, and what is written then, is decided in fleet/orders/order.h, for everybody. Pure.
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
  ZoneBook zones = {};           // none: names of time zones are not looked up
};

// The keys that are to be read first; those that end in `/` with all below.
[[nodiscard]] std::vector<std::string> config_reads(const Request& request,
                                                    const std::string& rest);

struct ConfigDecision {
  Response response = {};                       // once it is written
  std::vector<Transaction> first = {};          // are written before the next two
  std::optional<Transaction> transaction = {};  // with the event that it was ordered
  std::shared_ptr<Creation> creation = {};      // writes it, in place of a transaction
  FleetEvent event = {};                        // that it was ordered: behind a creation

  [[nodiscard]] bool writes() const { return transaction || creation != nullptr; }
};

// Nothing is written.
[[nodiscard]] ConfigDecision refused(int status, const std::string& reason);

// `reading` is all that was asked for. A request with `validate=true` is answered as if it were
// done, and is not.
[[nodiscard]] ConfigDecision decide_config(const Request& request, const std::string& rest,
                                           const Reading& reading, const ConfigMoment& moment);

// The answer to `creation`; the record is the one that stands there now.
[[nodiscard]] Response creation_answer(const ConfigDecision& decision, const Creation::Next& ended,
                                       const KeyValue* record);

// No value if somebody else has written meanwhile; read and decide again.
[[nodiscard]] std::optional<Response> config_answer(const ConfigDecision& decision,
                                                    const Outcome& outcome);

}  // namespace fleet
