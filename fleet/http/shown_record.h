// Shows a record of the store to clients of HTTP. Records were written by others, who may be
// hostile: no record breaks the answer around it, and none shows a secret. Pure.
#pragma once

#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/keys.h"

namespace fleet {

// Returns the value as JSON: an object as it is, anything else as a text, with U+FFFD for bytes
// that are not UTF-8. A webhook's URL contains a secret, so only its host is shown.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// Returns `https://hooks.example.org/...`.
[[nodiscard]] std::string shown_url(std::string_view url);

// Returns whether the client may see records of this kind. Without certificates, everybody on the
// machine may look, but does not see the settings.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet
