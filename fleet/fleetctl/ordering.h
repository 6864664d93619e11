// Gives an order: reads the records that the order needs, lets fleet/orders decide, and writes the
// decision, with a note that names the person.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/orders/order.h"

namespace fleetctl {

struct Placed {
  int status = 0;  // the exit status; exit_done if the order was written, or nothing had to change
  // The reason if the order was refused. place() does not print it, so the caller must.
  std::optional<fleet::OrderRefused> refused = std::nullopt;
  fleet::OrderTaken taken = {};  // what the order changes, unless it was refused
  std::string trace = {};
};

// Gives the order. If options.dry_run is set, decides and writes nothing. Prints any error except
// `refused`.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order);
// Gives the order under this trace, the id that connects the records and events of one order.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order,
                           const std::string& trace);

// Reads each of these keys. A key that ends in `/` stands for all keys below it.
[[nodiscard]] fleet::Reply<fleet::Reading> read_keys(Asker& asker,
                                                     const std::vector<std::string>& keys);

// Returns the person who gives this command, and the present time.
[[nodiscard]] fleet::Orderer orderer_of(const Options& options, const std::string& trace);

// Prints `about` and why the order was refused. Returns the exit status.
[[nodiscard]] int say_refused(const Placed& placed, const std::string& about = {});

// Returns an event that add_note() can write, for an order about which fleet/orders does not
// decide.
[[nodiscard]] fleet::FleetEvent note_of(const Options& options, const std::string& subject,
                                        const std::string& text);

}  // namespace fleetctl
