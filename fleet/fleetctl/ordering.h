// Gives an order: reads the records that the order needs, lets fleet/orders decide, and writes the
// decision, with a note of who has ordered it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/orders/order.h"

namespace fleetctl {

struct Placed {
  int status = 0;  // exit_done if the order is written, or nothing has to change
  // Why the order was refused, if it was. place() does not print this; the caller has to.
  std::optional<fleet::OrderRefused> refused = std::nullopt;
  fleet::OrderTaken taken = {};  // the decision, if the order was not refused
  std::string trace = {};
};

// Gives the order. With options.dry_run, everything is decided and nothing is written. The user has
// been told of any failure except `refused`.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order);
// Gives the order under this trace.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order,
                           const std::string& trace);

// Reads all of these keys, each by itself; for a key that ends in `/`, all keys below it.
[[nodiscard]] fleet::Reply<fleet::Reading> read_keys(Asker& asker,
                                                     const std::vector<std::string>& keys);

// Returns the person who gives this command, and the present time.
[[nodiscard]] fleet::Orderer orderer_of(const Options& options, const std::string& trace);

// Tells the user why the order was refused, after `about`. Returns the exit status.
[[nodiscard]] int say_refused(const Placed& placed, const std::string& about = {});

// Returns the event, for add_note(), that something was ordered without fleet/orders.
[[nodiscard]] fleet::FleetEvent note_of(const Options& options, const std::string& subject,
                                        const std::string& text);

}  // namespace fleetctl
