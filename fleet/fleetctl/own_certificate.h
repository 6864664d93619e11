// Finds out from a person's own files why the store refuses the person. If a connection fails
// because of a certificate, the error message of TLS does not tell which certificate is wrong.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Returns what is wrong with the certificate, or an empty text if it is valid by this machine's
// clock or none is used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

}  // namespace fleetctl
