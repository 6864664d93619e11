// agentify's own log: one line an event, on standard error, which the daemon writes to as well.
// Never waits: what cannot be written at once is lost.
#pragma once

#include <string_view>

namespace agentify {

void log_line(std::string_view text);

}  // namespace agentify
