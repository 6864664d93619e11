// Identifies the client of a TLS connection by the client's certificate.
#pragma once

#include <gnutls/gnutls.h>

#include <optional>
#include <string>

#include "fleet/http/message.h"

namespace fleet {

// Returns the client in the client certificate of this TLS session. Returns no value if the
// authority has not signed the certificate, if it is not valid now, or if it is in the revocation
// list. `authority` and `revocations` are texts in PEM; `revocations` may be empty.
[[nodiscard]] std::optional<Visitor> visitor_of(gnutls_session_t session,
                                                const std::string& authority,
                                                const std::string& revocations);

[[nodiscard]] bool is_revocation_list(const std::string& pem);

}  // namespace fleet
