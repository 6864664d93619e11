// Whether a certificate is one of those that `fleetctl enrol` has given, and is still let in: the
// record `identity/ROLE/WHO` lists the certificates of everybody, and says who was revoked. The
// controller writes to the store with its own rights, so that the store's refusal of a name that
// was revoked never reaches HTTP. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The key of the record that a certificate's name has; none: no such name is ever enrolled.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// The refusal, 401, or 503 where the records have not been read yet; none: the certificate is let
// in. `record` is what stands at identity_key() (null: nothing).
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

}  // namespace fleet
