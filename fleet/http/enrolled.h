// Decides whether a certificate is one that `fleetctl enrol` has issued, and is still let in. The
// record `identity/ROLE/WHO` lists the certificates of each person, and says whether the person was
// revoked. The controller writes to the store with its own rights, so the store's own refusal of a
// revoked name does not protect HTTP. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns the key of the record for a certificate's name, or no value if no such name can be
// enrolled.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// Returns the refusal, with status 401, or 503 if the records have not been read yet, or no value
// if the certificate is let in. `record` is the record at identity_key(), or null if there is none.
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

}  // namespace fleet
