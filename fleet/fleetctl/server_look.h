// Looks at a server of the cell by HTTPS: at its certificate, and at its clock.
#pragma once

#include <string>

#include "fleet/cell/cell_check.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Sends a request that changes nothing to the server, with our certificate, and returns what was
// seen. The server may refuse the request. Blocks for some seconds at most. Sends nothing if the
// authority has not signed the server's certificate.
[[nodiscard]] fleet::ServerFact look_at_server(const std::string& url,
                                               const fleet::Certificates& files);

}  // namespace fleetctl
