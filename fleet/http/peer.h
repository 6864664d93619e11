// Finds out who the client of a TLS connection is.
#pragma once

#include <gnutls/gnutls.h>

#include <optional>
#include <string>

#include "fleet/http/message.h"

namespace fleet {

// Returns the client as its certificate names it. Returns no value unless the authority has signed
// the certificate, it is valid now, and it is not in the revocation list. `authority` and
// `revocations` are PEM; `revocations` may be empty.
[[nodiscard]] std::optional<Visitor> visitor_of(gnutls_session_t session,
                                                const std::string& authority,
                                                const std::string& revocations);

[[nodiscard]] bool is_revocation_list(const std::string& pem);

}  // namespace fleet
