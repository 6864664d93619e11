// Turns the text of status.json or previous.json into a Status, and finds parts of the text as they
// are spelled. Unknown members are ignored, and a malformed member costs only itself.
#pragma once

#include <string>
#include <string_view>

#include "agent-protocol/cpp/control/status.h"
#include "base/result.h"

namespace upgraderctl {

// Returns the status. Refuses only a text that is not a JSON object, or has no text
// `upgrader`.`started`.
[[nodiscard]] agent_protocol::Result<Status> read_status(std::string_view text);

// Returns the value of the object's member `name`, spelled as in `text`, or `otherwise` if there is
// none. read_status() must have accepted `text`.
[[nodiscard]] std::string raw_member(std::string_view text, std::string_view name,
                                     std::string_view otherwise);

// Returns the text without white space at its end, so that it can be part of a line.
[[nodiscard]] std::string_view one_line(std::string_view text);

}  // namespace upgraderctl
