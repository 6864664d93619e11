// The level of a log line. log.h says which levels are shown.
#pragma once

#include "agent-protocol/cpp/wire/message.h"

namespace upgrader {

enum class LogLevel { error, warning, info, debug };  // the most important first

}  // namespace upgrader

template <>
inline constexpr std::array<std::string_view, 4> agent_protocol::names_of<upgrader::LogLevel>{
    "error", "warning", "info", "debug"};
