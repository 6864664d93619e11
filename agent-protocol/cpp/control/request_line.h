// Turns a request into the line that is written to the control directory's FIFO.
#pragma once

#include <cstddef>
#include <string>

#include "agent-protocol/cpp/control/request.h"
#include "base/result.h"

namespace upgraderctl {

// The most bytes of a line, with its newline (PIPE_BUF). A pipe takes a write of at most this size
// whole or not at all, so the lines of several writers never mix.
inline constexpr std::size_t request_bytes_max = 4'096;

// Returns the line for a request, or a refusal if the line would be too long or a text in it is not
// valid.
[[nodiscard]] agent_protocol::Result<std::string> line_of(const Request& request);

}  // namespace upgraderctl
