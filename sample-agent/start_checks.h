// The checks that must pass before this agent says `ready`. The agent's self-test runs the same
// checks. No check changes anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/configuration.h"

namespace sample_agent {

// The exit statuses of a failed self-test. connection_status means that the self-test may pass
// later.
inline constexpr int configuration_status = 3;
inline constexpr int input_status = 4;
inline constexpr int output_status = 5;
inline constexpr int format_status = 6;
inline constexpr int connection_status = 75;

struct StartCheck {
  std::string name;
  // The exit status of the self-test if this check fails.
  int status = 0;
  // runs the check; returns the reason if the check fails, otherwise nothing
  std::function<std::optional<std::string>()> run;
};

// Returns the checks in the order in which they must be run.
[[nodiscard]] std::vector<StartCheck> start_checks(const Configuration& configuration,
                                                   unsigned position_format);

}  // namespace sample_agent
