// What must be true before this agent can be given the work. The same checks are the self-test.
// None of them changes anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/configuration.h"

namespace sample_agent {

struct StartCheck {
  std::string name;
  std::function<std::optional<std::string>()> run;  // says what is wrong, or nothing
};

// In the order in which they are to be run.
[[nodiscard]] std::vector<StartCheck> start_checks(const Configuration& configuration,
                                                   unsigned position_format);

}  // namespace sample_agent
