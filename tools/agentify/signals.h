// Signals by their names, as they are written on a command line and in the log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentify {

// "QUIT", "SIGQUIT" or "3". Nothing for what names no signal from 1 to 31.
[[nodiscard]] std::optional<int> parse_signal(std::string_view name);

// "SIGQUIT".
[[nodiscard]] std::string signal_name(int number);

}  // namespace agentify
