// SIGINT, SIGTERM and SIGHUP are noted while this object lives, and end nothing at once: a command
// that has begun to write looks at them between its steps, removes what it has begun, and ends.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "agent-releases/result.h"

namespace agent_releases {

class Interruption {
 public:
  Interruption();

  // Restores what the signals did before.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Refused once one of the signals has come.
  [[nodiscard]] static Outcome none();

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace agent_releases
