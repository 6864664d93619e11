// Finds out whether the store refuses the connection because the user's own certificate is wrong.
// The error message of TLS does not say which certificate is wrong.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Returns what is wrong with the user's certificate, by this machine's clock. Returns an empty text
// if the certificate is valid, or if no certificate is used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

}  // namespace fleetctl
