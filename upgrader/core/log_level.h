// The level of a log line. log.h says which levels are shown.
#pragma once

#include "agent-protocol/cpp/wire/message.h"

namespace upgrader {

// Sorted: the most important level comes first.
enum class LogLevel { error, warning, info, debug };

}  // namespace upgrader

template <>
inline constexpr std::array<std::string_view, 4> agent_protocol::names_of<upgrader::LogLevel>{
    "error", "warning", "info", "debug"};
