// The list of all checks of agent-conformance, in the order in which they are performed. Each check
// comes after the checks that must pass before it can be judged.
#pragma once

#include <vector>

#include "tools/agent-conformance/script.h"

namespace conformance {

[[nodiscard]] const std::vector<Check>& all_checks();
[[nodiscard]] const Check* find_check(std::string_view name);

// The checks, in one list for each subject. all_checks() joins these lists.
[[nodiscard]] std::vector<Check> checks_of_start();
[[nodiscard]] std::vector<Check> checks_of_work();
[[nodiscard]] std::vector<Check> checks_of_stop();
[[nodiscard]] std::vector<Check> checks_of_words();
[[nodiscard]] std::vector<Check> checks_of_state();
[[nodiscard]] std::vector<Check> checks_of_reading();
[[nodiscard]] std::vector<Check> checks_of_surroundings();
[[nodiscard]] std::vector<Check> checks_of_hand_overs();

// The sentence of agent-protocol(7) that says how an agent stops. Several checks quote it.
inline constexpr Quote stop_quote{
    "MESSAGES TO AN AGENT",
    "The agent finishes, gives everything up, says stopped and exits with status 0."};

}  // namespace conformance
