// The name at the other end of a TLS connection.
#pragma once

#include <gnutls/gnutls.h>

#include <optional>
#include <string>

#include "fleet/http/message.h"

namespace fleet {

// The name in the client's certificate, if that is signed by the authority, good at this moment,
// and not among the revocations (both PEM; the second may be empty).
[[nodiscard]] std::optional<Visitor> visitor_of(gnutls_session_t session,
                                                const std::string& authority,
                                                const std::string& revocations);

[[nodiscard]] bool is_revocation_list(const std::string& pem);

}  // namespace fleet
