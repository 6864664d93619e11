// Finds out when a certificate expires.
#pragma once

#include <string>

#include "fleet/http/health.h"

namespace fleet {

// Returns the name in the first certificate of the PEM file `path`, and when that certificate
// expires. `what` says what the certificate is used for, and is copied to the result. If the file
// contains no certificate, `trouble` in the result says so.
[[nodiscard]] CertificateHealth certificate_health(const std::string& what,
                                                   const std::string& path);

}  // namespace fleet
