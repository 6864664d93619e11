// Checks whether the person's own certificate is the reason why the store refuses the connection.
// If a connection fails because of a certificate, the error message of TLS does not tell which
// certificate is wrong.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Returns what is wrong with the certificate, judged by this machine's clock. Returns an empty text
// if it is valid, or if no certificate is used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

}  // namespace fleetctl
