// Finds out from a person's own files why the store does not let the person in. If a connection
// fails because of a certificate, the words of TLS do not say which certificate is meant.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Returns an empty text if the certificate is valid by this machine's clock, or none is used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

}  // namespace fleetctl
