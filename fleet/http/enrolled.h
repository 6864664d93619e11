// Decides whether a client's certificate was issued by `fleetctl enrol` and has not been revoked.
// The record `identity/ROLE/WHO` lists the certificates of each person, and says whether the person
// was revoked. The store itself refuses the writes of a revoked person. But a request by HTTP is
// written by the controller, with the controller's permissions. So the controller has to refuse a
// revoked person, too. Does no input or output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns the key of the identity record for the name in a certificate. Returns no value if nobody
// can be enrolled under that name.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// Returns the refusal of a client, or no value if its certificate is good. The status is 401, or
// 503 if the records have not been read yet. `record` is the record with the key identity_key(), or
// null if that record is absent.
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

}  // namespace fleet
