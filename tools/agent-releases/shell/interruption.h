// While this object exists, SIGINT, SIGTERM and SIGHUP are only noted: a command that has begun to
// write checks for them between its steps, removes what it has begun, and ends.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "agent-releases/result.h"

namespace agent_releases {

class Interruption {
 public:
  Interruption();

  // Restores the earlier dispositions of the signals.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Refuses once one of the signals has come.
  [[nodiscard]] static Outcome none();

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace agent_releases
