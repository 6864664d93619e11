// Makes the answer to a node that asks for its next certificate. Used by each program that has the
// authority's key.
#pragma once

#include "fleet/common/certificate.h"
#include "fleet/model/identities.h"

namespace fleet {

[[nodiscard]] RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                                      UnixSeconds now);

}  // namespace fleet
