// How a record of the store is shown to whoever asks by HTTP. Records were written by others, maybe
// hostile: none of them breaks the answer around it, and none shows a secret. Pure.
#pragma once

#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/keys.h"

namespace fleet {

// The value as JSON: an object as it stands, anything else as a text, with U+FFFD in place of what
// is not UTF-8. Of a webhook's URL, which has a secret in it, the host alone.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// `https://hooks.example.org/...`
[[nodiscard]] std::string shown_url(std::string_view url);

// Without certificates everybody on the machine may look, and is not shown what the cell is set to.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet
