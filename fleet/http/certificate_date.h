// Finds out when a certificate ends.
#pragma once

#include <string>

#include "fleet/http/health.h"

namespace fleet {

// Returns the name in the first certificate in the PEM file `path`, and when that certificate
// expires. `what` says what the certificate is for, and becomes the member of this name. If the
// file has no certificate, `trouble` says so.
[[nodiscard]] CertificateHealth certificate_health(const std::string& what,
                                                   const std::string& path);

}  // namespace fleet
