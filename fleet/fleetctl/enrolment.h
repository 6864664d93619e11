// Makes the owner of a certificate a user of the store: writes the record of the certificate, then
// makes the user and the role. enrolment.cc also implements the commands `enrol`, `renew`, `token`
// and `approve`, which commands.h declares.
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

// Records the certificate once, so that it can be revoked later, and gives its owner the
// permissions of the owner's kind, such as `operator`. Admits a revoked owner again with a new
// certificate, but refuses a certificate from before the revocation. Prints the reason for a
// failure; calling the function again then completes the work. Returns the exit status.
[[nodiscard]] int let_in(const Options& options, Asker& asker, const Owner& owner,
                         const fleet::IssuedCertificate& issued);

// Returns the authority of --signer and --signer-key.
[[nodiscard]] fleet::Signer signer_of(const Options& options);
// Returns why the authority of --signer and --signer-key cannot sign for this cell, or an empty
// string if it can.
[[nodiscard]] std::string why_no_signer(const Options& options);

// Returns the value of the setting `controllers` with these URLs.
[[nodiscard]] std::string controllers_value(const std::vector<std::string>& urls);

// Sets the cell's setting `controllers`, the URLs that new machines use to join, unless it has this
// value already. Prints the reason for a failure. Returns the exit status.
[[nodiscard]] int name_controllers(const Options& options, Asker& asker,
                                   const std::vector<std::string>& urls);

// Turns on access control in the store, after making the user `root`, who has all permissions. Each
// client then has only the permissions of the name in its certificate. Prints the reason for a
// failure; calling the function again then completes the work. Returns the exit status.
[[nodiscard]] int secure_store(Asker& asker);

}  // namespace fleetctl
