// Identifies the client of a TLS connection by the client's certificate.
#pragma once

#include <gnutls/gnutls.h>

#include <string>

#include "base/result.h"
#include "fleet/http/message.h"

namespace fleet {

// Returns the client in the client certificate of this TLS session. Returns a Refusal if the
// certificate is not valid now or is in the revocation list. Returns a Refusal without a reason if
// the authority has not signed the certificate. `authority` and `revocations` are texts in PEM;
// `revocations` may be empty.
[[nodiscard]] upgrader::Result<Visitor> visitor_of(gnutls_session_t session,
                                                   const std::string& authority,
                                                   const std::string& revocations);

// Returns why the text has no certificate in PEM, or an empty string if it has one.
[[nodiscard]] std::string why_no_certificate(const std::string& pem);
// Returns why the text `key` is not the key of this certificate, or an empty string if it is. Both
// texts are in PEM.
[[nodiscard]] std::string why_not_key_of(const std::string& certificate, const std::string& key);

[[nodiscard]] bool is_revocation_list(const std::string& pem);

}  // namespace fleet
