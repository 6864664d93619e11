#include "upgrader/core/supervisor.h"

#include "base/check.h"
#include "upgrader/core/invariants.h"
#include "upgrader/core/step.h"

namespace upgrader {

Actions Supervisor::step(const Event& event, Time now, Actions memory) {
  UPGRADER_CHECK(state_.pending == Pending::nothing || is_outcome(event));
  Actions actions = std::move(memory);
  actions.clear();
  if (state_.ended) return actions;
  Step step(policy_, state_, now, actions);
  std::visit([&](const auto& happened) { step.take(happened); }, event);
  check_state(state_, actions);
  return actions;
}

}  // namespace upgrader
