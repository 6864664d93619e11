// The names of signals, for command lines, logs and reasons.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

// Reads "QUIT", "SIGQUIT" or "3". Returns nothing if the text does not name a signal from 1 to 31.
[[nodiscard]] std::optional<int> parse_signal(std::string_view name);

// Returns the signal's name, such as "SIGQUIT".
[[nodiscard]] std::string signal_name(int number);

}  // namespace upgrader
