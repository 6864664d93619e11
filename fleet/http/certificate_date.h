// Finds out when a certificate ends.
#pragma once

#include <string>

#include "fleet/http/health.h"

namespace fleet {

// Returns when the first certificate in the PEM file `path` expires. `what` becomes its name.
[[nodiscard]] CertificateHealth certificate_health(const std::string& what,
                                                   const std::string& path);

}  // namespace fleet
