// Contacts a server of the cell by HTTPS, to find out when its certificate ends and what its clock
// shows.
#pragma once

#include <string>

#include "fleet/cell/cell_check.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Sends a request that changes nothing to the server, with our certificate, and returns the facts
// that its answer shows. A refusal of the request is an answer, too. Blocks for some seconds at
// most. Sends nothing if the authority has not signed the server's certificate.
[[nodiscard]] fleet::ServerFact look_at_server(const std::string& url,
                                               const fleet::Certificates& files);

}  // namespace fleetctl
