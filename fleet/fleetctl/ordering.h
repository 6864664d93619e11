// How fleetctl orders: reads what the order needs, lets fleet/orders decide, and writes it, with a
// note of who has ordered it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/orders/order.h"

namespace fleetctl {

struct Placed {
  int status = 0;  // exit_done: it is written, or is so already
  std::optional<fleet::OrderRefused> refused = std::nullopt;  // has not been said yet
  fleet::OrderTaken taken = {};                               // if it was not refused
  std::string trace = {};
};

// With options.dry_run all is decided, and nothing is written. Any other failure has been said.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order);
// The same, with this trace.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order,
                           const std::string& trace);

// All of these, each by itself; those that end in `/` with all below.
[[nodiscard]] fleet::Reply<fleet::Reading> read_keys(Asker& asker,
                                                     const std::vector<std::string>& keys);

// The person who orders by this command, now.
[[nodiscard]] fleet::Orderer orderer_of(const Options& options, const std::string& trace);

// Says why an order was refused, behind `about`; the exit status.
[[nodiscard]] int say_refused(const Placed& placed, const std::string& about = {});

// That something was ordered which is none of fleet/orders, for add_note().
[[nodiscard]] fleet::FleetEvent note_of(const Options& options, const std::string& subject,
                                        const std::string& text);

}  // namespace fleetctl
