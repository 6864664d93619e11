// Reads records whose kind is known only while the program runs, such as all records below a key
// that a client has named. record_text.h reads records of a type that the caller names.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/records/keys.h"

namespace fleet {

// Parses the JSON text of a record of this kind, and returns the record as JSON again. So the
// result contains only members that this program knows, with the right types. Returns a Refusal if
// the record cannot be read.
[[nodiscard]] agent_protocol::Result<std::string> rewritten_record(KeyKind kind,
                                                                   std::string_view value);

}  // namespace fleet
