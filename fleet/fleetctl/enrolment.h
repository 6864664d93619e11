// Makes the owner of a certificate a user of the store: writes the record of the certificate, then
// makes user and role. fleetctl enrol and renew are here, too.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

// The owner of a certificate, whose name is KIND:WHO.
struct Owner {
  std::string kind = {};
  std::string who = {};
};

// Records the certificate, so that it can be revoked later, and gives its owner the permissions
// that the kind in the name has. A certificate that is recorded already is not recorded twice. An
// owner who was revoked stays revoked. Prints an error if something fails; the same call then
// continues. Returns the exit status.
[[nodiscard]] int let_in(const Options& options, Asker& asker, const Owner& owner,
                         const fleet::IssuedCertificate& issued);

// Writes into the cell's setting `controllers` the URLs at which machines that join reach the
// controllers. If the setting has this value already, writes nothing. Prints an error if something
// fails. Returns the exit status.
[[nodiscard]] int name_controllers(const Options& options, Asker& asker,
                                   const std::vector<std::string>& urls);

// Turns on access control in the store: from then on it grants each client only the rights of the
// name in its certificate. Gives all rights to `root`, whom alone the store knows at first. Prints
// an error if something fails; the same call then continues. Returns the exit status.
[[nodiscard]] int secure_store(Asker& asker);

}  // namespace fleetctl
