// Makes the owner of a certificate a user of the store: writes the record of the certificate, then
// makes the user and the role. enrolment.cc also implements commands that admit people and
// machines, which commands.h declares: `fleetctl enrol`, `renew`, `token` and `approve`.
#pragma once

#include <string>
#include <vector>

#include "fleet/common/certificate.h"
#include "fleet/fleetctl/asker.h"
#include "fleet/model/records/cell_records.h"

namespace fleetctl {

// The owner of a certificate. The name in the certificate is KIND:WHO.
struct Owner {
  std::string kind = {};
  std::string who = {};
};

// Records the certificate, so that it can be revoked later, and gives its owner the permissions of
// the owner's kind, such as `operator`. A certificate that is recorded already is not recorded
// twice. If the owner was revoked, a new certificate admits the owner again, but a certificate that
// was recorded before the revocation is refused. Prints an error if something fails; another call
// then continues where this one stopped. Returns the exit status.
[[nodiscard]] int let_in(const Options& options, Asker& asker, const Owner& owner,
                         const fleet::IssuedCertificate& issued);

// Returns the authority of --signer and --signer-key.
[[nodiscard]] fleet::Signer signer_of(const Options& options);
// Returns why the authority of --signer and --signer-key cannot sign for this cell, or an empty
// string if it can.
[[nodiscard]] std::string why_no_signer(const Options& options);

// Sets the cell's setting `controllers` to the URLs of the controllers. New machines use these URLs
// to join the cell. Writes nothing if the setting has this value already. Prints an error if
// something fails. Returns the exit status.
[[nodiscard]] int name_controllers(const Options& options, Asker& asker,
                                   const std::vector<std::string>& urls);

// Turns on access control in the store. From then on, the store grants each client only the
// permissions of the name in its certificate. First makes the user `root`, who has all permissions.
// Prints an error if something fails; another call then continues where this one stopped. Returns
// the exit status.
[[nodiscard]] int secure_store(Asker& asker);

}  // namespace fleetctl
