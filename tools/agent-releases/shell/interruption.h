// Ends a command that writes files if SIGINT, SIGTERM or SIGHUP has come. The command calls
// not_interrupted() between its steps. After a refusal, the command removes its unfinished files.
#pragma once

#include "agent-releases/result.h"
#include "base/interruption.h"

namespace agent_releases {

using upgrader::Interruption;

// Returns a refusal if a signal has come, otherwise success.
[[nodiscard]] inline Outcome not_interrupted() {
  if (!Interruption::has_come()) return std::monostate{};
  return Refusal{"interrupted: nothing has been changed", Trouble::cut_off};
}

}  // namespace agent_releases
