// Parses the options that `agentify run` and `agentify unit` share, one argument at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agentify/launch/launch.h"

namespace agentify {

// Sets one option in `launch`, or returns the fault in it. Options that `agentify run` does not
// know are kept for agentify itself.
[[nodiscard]] std::optional<UsageError> set_launch_option(const std::string& word, Launch& launch);

// Sets DAEMON and its arguments from words[at] on, and checks all options together. The texts of
// errors begin with `command`, such as "run".
[[nodiscard]] std::optional<UsageError> finish_launch(const std::vector<std::string>& words,
                                                      std::size_t at, const std::string& command,
                                                      Launch& launch);

// Returns true if this argument ends the options.
[[nodiscard]] bool ends_options(const std::string& word);

// Returns true if one of `options`, each --NAME or --NAME=VALUE, has this name.
[[nodiscard]] bool holds_option(const std::vector<std::string>& options, std::string_view name);

// Returns true if words[end] is an option that was given before in `words`.
[[nodiscard]] bool given_before(const std::vector<std::string>& words, std::size_t end);

}  // namespace agentify
