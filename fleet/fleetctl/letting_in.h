// Makes somebody a user of the store: writes the record of the certificate, then user and role.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

// The owner of a certificate, whose name is KIND:WHO.
struct Owner {
  std::string kind = {};
  std::string who = {};
};

// Records the certificate, so that it can be revoked, and gives its owner the permissions of the
// kind. A certificate that is recorded already is not recorded again, and an owner who was revoked
// is not let in again. Returns the exit status. The user has been told of a failure; the same call
// then goes on.
[[nodiscard]] int let_in(const Options& options, Asker& asker, const Owner& owner,
                         const fleet::IssuedCertificate& issued);

// Makes the store know its clients by their certificates: only `root`, who has all rights, is known
// at first. Returns the exit status. The user has been told of a failure; the same call then goes
// on.
[[nodiscard]] int secure_store(Asker& asker);

}  // namespace fleetctl
