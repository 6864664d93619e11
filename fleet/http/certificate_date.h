// Finds out when a certificate ends.
#pragma once

#include <string>

#include "fleet/http/health.h"

namespace fleet {

// Returns the name in the first certificate in the PEM file `path`, and when that certificate
// expires. `what`, which is copied to the result, names the certificate's use. If the file has no
// certificate, `trouble` in the result says so.
[[nodiscard]] CertificateHealth certificate_health(const std::string& what,
                                                   const std::string& path);

}  // namespace fleet
