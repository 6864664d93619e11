// While this object exists, SIGINT, SIGTERM and SIGHUP do not kill the process, but are recorded. A
// command that writes files asks for them between its steps. If one has come, the command removes
// its unfinished files and ends.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "agent-releases/result.h"

namespace agent_releases {

class Interruption {
 public:
  Interruption();

  // Restores the signal handlers from before this object was made.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Returns a refusal if one of the three signals has come, otherwise success.
  [[nodiscard]] static Outcome none();

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace agent_releases
