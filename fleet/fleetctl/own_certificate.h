// Why the store does not let somebody in, as far as his own files say it. A connection that fails
// over a certificate says so in the words of TLS, which do not name the certificate.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Returns nothing if the certificate is good by this machine's clock, or none is shown.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

}  // namespace fleetctl
