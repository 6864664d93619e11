// Finds out whether the store refuses the connection because the user's own certificate is wrong.
// The error message of TLS does not say which certificate is wrong.
#pragma once

#include <string>

#include "fleet/model/time_zone.h"
#include "fleet/store/http2.h"

namespace fleetctl {

// Returns what is wrong with the user's certificate, by this machine's clock. Returns an empty text
// if the certificate is valid, or if no certificate is used.
[[nodiscard]] std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now);

// Returns the message for a request that the store has refused for the given reason. If the reason
// is a missing permission, the message also says what was asked for (`deed`, such as `write stop`)
// and under which name. etcd says only `permission denied`.
[[nodiscard]] std::string why_denied(const fleet::Certificates& files, const std::string& deed,
                                     const std::string& reason);

}  // namespace fleetctl
