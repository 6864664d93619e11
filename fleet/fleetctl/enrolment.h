// Makes the owner of a certificate a user of the store: writes the record of the certificate, then
// makes the user and the role. enrolment.cc also has the commands that let people and machines in,
// which commands.h declares: fleetctl enrol and renew, fleetctl token for the tokens by which
// machines join, and fleetctl approve for the machines that wait for approval.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

// The owner of a certificate. The name in the certificate is KIND:WHO.
struct Owner {
  std::string kind = {};
  std::string who = {};
};

// Records the certificate, so that it can be revoked later, and gives its owner the permissions of
// the kind in the name. A certificate that is recorded already is not recorded twice. An owner who
// was revoked stays revoked. Prints an error if something fails. The same call can then be made
// again, and continues. Returns the exit status.
[[nodiscard]] int let_in(const Options& options, Asker& asker, const Owner& owner,
                         const fleet::IssuedCertificate& issued);

// Writes into the cell's setting `controllers` the URLs at which machines that join reach the
// controllers. Writes nothing if the setting has this value already. Prints an error if something
// fails. Returns the exit status.
[[nodiscard]] int name_controllers(const Options& options, Asker& asker,
                                   const std::vector<std::string>& urls);

// Turns on access control in the store. From then on, the store grants each client only the
// permissions of the name in its certificate. Gives all permissions to `root`, the first user of
// the store. Prints an error if something fails. The same call can then be made again, and
// continues. Returns the exit status.
[[nodiscard]] int secure_store(Asker& asker);

}  // namespace fleetctl
