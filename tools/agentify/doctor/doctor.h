// Performs `agentify doctor`: runs a daemon, watches it, and prints the agentify options that suit
// it.
#pragma once

#include <string>
#include <vector>

namespace agentify {

// `words` are the arguments after `agentify doctor`. Returns an exit status.
[[nodiscard]] int perform_doctor(const std::vector<std::string>& words);

}  // namespace agentify
