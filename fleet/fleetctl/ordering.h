// Gives a person's order: reads the records for it, lets fleet/orders decide, and writes the
// decision, with a note (a record that names the person).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/orders/order.h"

namespace fleetctl {

struct Placed {
  int status = 0;  // exit_done if the order was written, or nothing had to change
  // why the order was refused; the caller must print this
  std::optional<fleet::OrderRefused> refused = std::nullopt;
  fleet::OrderTaken taken = {};  // the changes that the order makes; unset if it was refused
  std::string trace = {};
  fleet::LeaseId lease = 0;  // the lease of the order's records; 0 if they have none
};

// Gives the order. With `options.dry_run`, only decides, and writes nothing. Prints errors, but
// leaves the reason of a refusal in Placed::refused.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order);
// Gives the order, as place() without `trace` does. `trace` becomes the order's id, which all
// records and events that follow from the order contain.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order,
                           const std::string& trace);

// Reads the records with these keys. A key that ends in `/` stands for all keys that begin with it.
[[nodiscard]] fleet::Reply<fleet::Reading> read_keys(Asker& asker,
                                                     const std::vector<std::string>& keys);

// Returns the facts about the person who runs fleetctl, and the current time, for an order.
[[nodiscard]] fleet::Orderer orderer_of(const Options& options, const std::string& trace);

// Prints `about` and then the reason why the order was refused. Returns the exit status.
[[nodiscard]] int say_refused(const Placed& placed, const std::string& about = {});

// Returns the event about a person's order, for add_note(). Not needed for orders that go through
// decide_order(), which makes their events itself.
[[nodiscard]] fleet::FleetEvent note_of(const Options& options, const std::string& subject,
                                        const std::string& text);

}  // namespace fleetctl
