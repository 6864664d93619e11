// Turns a record of the store into JSON for clients of HTTP. Even a hostile record cannot break the
// JSON around it. Secrets are left out. Pure.
#pragma once

#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/keys.h"

namespace fleet {

// Returns the record as JSON: an object as it is, anything else as a text. In a text, U+FFFD stands
// for bytes that are not valid UTF-8. A webhook's URL has a secret in it, so only its host is
// shown.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// Returns a webhook's URL as a person may see it. The path of an https URL may contain a secret, so
// `/...` stands for it: `https://hooks.example.org/...`. A URL `file:PATH` is shown whole.
[[nodiscard]] std::string shown_url(std::string_view url);

// Returns whether the client may see records of this kind. Without certificates, everybody on the
// machine may see all records except the settings.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet
