// When a certificate ends.
#pragma once

#include <string>

#include "fleet/http/health.h"

namespace fleet {

// Of the first certificate of a file in PEM.
[[nodiscard]] CertificateHealth certificate_health(const std::string& what,
                                                   const std::string& path);

}  // namespace fleet
