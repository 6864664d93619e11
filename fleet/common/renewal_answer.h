// Makes the answer to a node's request for a new certificate. Used by fleet-signer and fleetctl,
// which have the authority's key.
#pragma once

#include "fleet/common/certificate.h"
#include "fleet/model/identities.h"

namespace fleet {

[[nodiscard]] RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                                      UnixSeconds now);

}  // namespace fleet
