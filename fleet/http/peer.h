// Finds the name at the other end of a TLS connection.
#pragma once

#include <gnutls/gnutls.h>

#include <optional>
#include <string>

#include "fleet/http/message.h"

namespace fleet {

// Returns the name in the client's certificate, if the certificate is signed by the authority,
// valid now, and not in the list of revocations. Both are PEM; `revocations` may be empty.
[[nodiscard]] std::optional<Visitor> visitor_of(gnutls_session_t session,
                                                const std::string& authority,
                                                const std::string& revocations);

[[nodiscard]] bool is_revocation_list(const std::string& pem);

}  // namespace fleet
