// Parses the options that `agentify run` and `agentify unit` share, one argument at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agentify/launch/launch.h"

namespace agentify {

// Sets the member of `launch` for one option. Returns an error if the option is wrong. An option
// that `agentify run` does not know is kept for agentify itself.
[[nodiscard]] std::optional<UsageError> set_launch_option(const std::string& word, Launch& launch);

// Sets the daemon and its arguments from words[at] on, and checks that all options fit each other.
// The text of an error begins with `command`, such as "run".
[[nodiscard]] std::optional<UsageError> finish_launch(const std::vector<std::string>& words,
                                                      std::size_t at, const std::string& command,
                                                      Launch& launch);

// Returns true if the options end at this argument.
[[nodiscard]] bool ends_options(const std::string& word);

// Returns true if `options`, each of the form --NAME or --NAME=VALUE, has an option with this name.
[[nodiscard]] bool holds_option(const std::vector<std::string>& options, std::string_view name);

// Returns true if words[end] is an option that was given already, before words[end].
[[nodiscard]] bool given_before(const std::vector<std::string>& words, std::size_t end);

}  // namespace agentify
