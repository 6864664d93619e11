// Turns a record of the store into JSON for HTTP clients. Even a hostile record cannot break the
// JSON around it. Secrets are left out. Does no input or output.
#pragma once

#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/keys.h"

namespace fleet {

// Returns the record as JSON. A JSON object stays as it is, and anything else becomes a JSON
// string, in which U+FFFD replaces invalid UTF-8. A webhook's URL contains a secret, so only its
// host is shown.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// Returns a webhook's URL in the form in which people may see it. The path of an https URL may
// contain a secret, so it is replaced: `https://hooks.example.org/...`. A URL `file:PATH` is shown
// unchanged.
[[nodiscard]] std::string shown_url(std::string_view url);

// Returns whether the client may see records of this kind. If the server uses no certificates,
// everybody on the machine may see all records except the settings.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet
