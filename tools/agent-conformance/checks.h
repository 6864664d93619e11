// All checks, in the order in which they are made: what others need comes first.
#pragma once

#include <vector>

#include "tools/agent-conformance/script.h"

namespace conformance {

[[nodiscard]] const std::vector<Check>& all_checks();
[[nodiscard]] const Check* find_check(std::string_view name);

// By subject; all_checks() puts them together.
[[nodiscard]] std::vector<Check> checks_of_start();
[[nodiscard]] std::vector<Check> checks_of_work();
[[nodiscard]] std::vector<Check> checks_of_stop();
[[nodiscard]] std::vector<Check> checks_of_words();
[[nodiscard]] std::vector<Check> checks_of_state();
[[nodiscard]] std::vector<Check> checks_of_reading();
[[nodiscard]] std::vector<Check> checks_of_surroundings();
[[nodiscard]] std::vector<Check> checks_of_hand_overs();

// The page on how an agent stops.
inline constexpr Quote stop_quote{
    "MESSAGES TO AN AGENT",
    "The agent finishes, gives everything up, says stopped and exits with status 0."};

}  // namespace conformance
