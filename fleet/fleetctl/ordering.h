// Gives an order of a person: reads the records that the order needs, lets fleet/orders decide, and
// writes the decision together with a note that names the person.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/orders/order.h"

namespace fleetctl {

struct Placed {
  int status = 0;  // exit_done if the order was written or nothing had to change
  // The reason why the order was refused. place() does not print it; the caller must.
  std::optional<fleet::OrderRefused> refused = std::nullopt;
  fleet::OrderTaken taken = {};  // the changes that the order makes, unless it was refused
  std::string trace = {};
  fleet::LeaseId lease = 0;  // the lease of the order's records; 0 if they have none
};

// Gives the order. If options.dry_run is set, only decides, and writes nothing. Prints errors, but
// not the reason of a refusal, which the caller finds in `refused`.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order);
// Gives the order under the id `trace`, by which all records and events of this order can be found.
[[nodiscard]] Placed place(const Options& options, Asker& asker, const fleet::Order& order,
                           const std::string& trace);

// Reads the records with these keys. A key that ends in `/` stands for all keys that begin with it.
[[nodiscard]] fleet::Reply<fleet::Reading> read_keys(Asker& asker,
                                                     const std::vector<std::string>& keys);

// Returns the person who runs fleetctl, and the present time, for an order.
[[nodiscard]] fleet::Orderer orderer_of(const Options& options, const std::string& trace);

// Prints `about`, followed by the reason why the order was refused. Returns the exit status.
[[nodiscard]] int say_refused(const Placed& placed, const std::string& about = {});

// Returns an event to be written by add_note(), for an order that fleet/orders does not decide.
[[nodiscard]] fleet::FleetEvent note_of(const Options& options, const std::string& subject,
                                        const std::string& text);

}  // namespace fleetctl
