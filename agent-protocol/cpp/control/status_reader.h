// The text of status.json or previous.json becomes a Status, and parts of it can be had as they are
// spelled. Members that are not known are ignored, and what is wrong in one costs only that.
#pragma once

#include <string>
#include <string_view>

#include "agent-protocol/cpp/control/status.h"
#include "base/result.h"

namespace upgraderctl {

// The status; refused is only what is no JSON object, or has no text `upgrader`.`started`.
[[nodiscard]] agent_protocol::Result<Status> read_status(std::string_view text);

// The value of the object's member `name` as it is spelled in `text`, which read_status has taken;
// `otherwise` where there is none.
[[nodiscard]] std::string raw_member(std::string_view text, std::string_view name,
                                     std::string_view otherwise);

// Without the white space at its end: fit to be part of a line.
[[nodiscard]] std::string_view one_line(std::string_view text);

}  // namespace upgraderctl
