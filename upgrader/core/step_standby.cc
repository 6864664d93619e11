// A step of the supervisor: what runs again after a failed trial, and stands by where the upgrade
// has a warm fallback.
#include <utility>

#include "upgrader/core/step.h"

namespace upgrader {

using agent_protocol::Role;

// Nobody's failure: all that follows is that a fall-back, if there is one, is a cold one.
void Step::standby_lost(const std::string& who, const std::string& reason) {
  log(LogLevel::warning,
      who + " failed: " + reason + "; the program before is started again when it is needed");
}

// Nobody has the work any more. Where a standby lives, it gets the work, or will at its `ready`.
void Step::fall_back() {
  if (!state_.candidate) {
    return order_spawn(Role::fallback, state_.upgrade->previous, state_.last_generation + 1);
  }
  state_.incumbent = std::exchange(state_.candidate, std::nullopt);
  if (state_.incumbent->ready && !has_closed(*state_.incumbent)) activate_incumbent();
}

}  // namespace upgrader
