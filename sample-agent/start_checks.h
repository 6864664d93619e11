// Checks that must pass before this agent can be given the work. The same checks are the self-test.
// No check changes anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/configuration.h"

namespace sample_agent {

// The last is one that self-tests have for what may be better later.
inline constexpr int configuration_status = 3;
inline constexpr int input_status = 4;
inline constexpr int output_status = 5;
inline constexpr int format_status = 6;
inline constexpr int connection_status = 75;

struct StartCheck {
  std::string name;
  int status = 0;                                   // with which a self-test exits that fails here
  std::function<std::optional<std::string>()> run;  // says what is wrong, or nothing
};

// In the order in which they are to be run.
[[nodiscard]] std::vector<StartCheck> start_checks(const Configuration& configuration,
                                                   unsigned position_format);

}  // namespace sample_agent
