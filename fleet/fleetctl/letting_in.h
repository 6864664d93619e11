// How somebody becomes a user of the store: the record of the certificate, then user and role.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

// KIND:WHO, as a certificate names its owner.
struct Owner {
  std::string kind = {};
  std::string who = {};
};

// Records the certificate, so that it can be revoked, and gives its owner the permissions of the
// kind. A certificate that is recorded already is not recorded again, nor is its owner let in again
// if he was revoked. Returns the exit status; a failure has been said, and the same call goes on.
[[nodiscard]] int let_in(const Options& options, Asker& asker, const Owner& owner,
                         const fleet::IssuedCertificate& issued);

// Makes the store know its clients by their certificates: `root`, who may do everything, and
// nobody else yet. Returns the exit status; a failure has been said, and the same call goes on.
[[nodiscard]] int secure_store(Asker& asker);

}  // namespace fleetctl
