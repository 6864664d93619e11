// Performs `agentify run`: finds the programs, makes the directory, becomes the upgrader.
#pragma once

#include <string>
#include <vector>

namespace agentify {

// `words` are those behind `agentify run`. Returns an exit status, unless the upgrader has taken
// the place of this process.
[[nodiscard]] int run_launch(const std::vector<std::string>& words);

}  // namespace agentify
