// While this object exists, SIGINT, SIGTERM and SIGHUP do not kill the process but are noted. A
// command that writes files checks for them between its steps, removes its unfinished files, and
// ends.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "agent-releases/result.h"

namespace agent_releases {

class Interruption {
 public:
  Interruption();

  // Restores the handling of the signals that was in force before this object was made.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Returns a refusal if one of the signals has come, otherwise success.
  [[nodiscard]] static Outcome none();

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace agent_releases
