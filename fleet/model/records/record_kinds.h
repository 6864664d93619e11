// Reads records whose kind is known only while the program runs, such as all records below a key
// that a client has named. record_text.h reads records of a type that the caller names.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/records/keys.h"

namespace fleet {

// Reads a record of this kind as read_record() does, and returns the JSON text that write_record()
// makes of it. So each member of the text is one that this program knows, and has the right type.
// Returns the Refusal of read_record() if the record cannot be read.
[[nodiscard]] agent_protocol::Result<std::string> rewritten_record(KeyKind kind,
                                                                   std::string_view value);

}  // namespace fleet
