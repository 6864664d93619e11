// Functions that turn the text of status.json or previous.json into a `Status`, and find the text
// of a member without parsing its value. Unknown members are ignored, and a malformed member is
// treated as absent.
#pragma once

#include <string>
#include <string_view>

#include "agent-protocol/cpp/control/status.h"
#include "base/result.h"

namespace upgraderctl {

// Returns the status. Returns a refusal if the text is not a JSON object, or if it has no object
// `upgrader` with a text `started`.
[[nodiscard]] agent_protocol::Result<Status> read_status(std::string_view text);

// Returns the value of the object's member `name`, exactly as `text` has it, or `otherwise` if
// there is no such member. read_status() must have accepted `text`.
[[nodiscard]] std::string raw_member(std::string_view text, std::string_view name,
                                     std::string_view otherwise);

// Returns the text without the white space at its end, which may contain a newline.
[[nodiscard]] std::string_view one_line(std::string_view text);

}  // namespace upgraderctl
