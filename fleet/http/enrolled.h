// Decides whether a client's certificate was issued by `fleetctl enrol` and has not been revoked.
// The record `identity/ROLE/WHO` lists the certificates of each person, and says whether the person
// was revoked. The store refuses a revoked person who writes to it. But if the person sends a
// request by HTTP, the controller writes with its own rights, so the controller has to refuse the
// person itself. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns the key of the record for the name in a certificate. Returns no value if nobody can be
// enrolled with such a name.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// Returns the refusal, or no value if the certificate is good. The status is 401, or 503 if the
// records have not been read yet. `record` is the record at identity_key(), or null if there is
// none.
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

}  // namespace fleet
