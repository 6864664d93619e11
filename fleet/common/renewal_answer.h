// Makes the answer to a node's request for a new certificate. Each program that has the authority's
// key uses this.
#pragma once

#include "fleet/common/certificate.h"
#include "fleet/model/identities.h"

namespace fleet {

[[nodiscard]] RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                                      UnixSeconds now);

}  // namespace fleet
