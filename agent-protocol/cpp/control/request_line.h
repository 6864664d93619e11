// A request becomes the line that is written to the control directory's FIFO.
#pragma once

#include <cstddef>
#include <string>

#include "agent-protocol/cpp/control/request.h"
#include "base/result.h"

namespace upgraderctl {

// With its newline. So much goes into a pipe whole or not at all (PIPE_BUF), so that the lines of
// several writers never mix.
inline constexpr std::size_t request_bytes_max = 4'096;

// The line, or why there can be none: it would be too long, or a text is not as it must be.
[[nodiscard]] agent_protocol::Result<std::string> line_of(const Request& request);

}  // namespace upgraderctl
