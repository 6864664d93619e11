// Who is at the other end of a TLS connection.
#pragma once

#include <gnutls/gnutls.h>

#include <optional>
#include <string>

namespace fleet {

// The name in the client's certificate, where that is signed by the authority, good at this moment,
// and not among the revocations (both PEM; the second may be empty).
[[nodiscard]] std::optional<std::string> name_of_peer(gnutls_session_t session,
                                                      const std::string& authority,
                                                      const std::string& revocations);

}  // namespace fleet
