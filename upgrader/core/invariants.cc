#include "upgrader/core/invariants.h"

#include "base/check.h"

namespace upgrader {
namespace {

using agent_protocol::Role;

// Checks that only an active agent has a heartbeat deadline, and that an agent that has missed its
// heartbeat has none.
void check_heartbeat(const std::optional<Agent>& agent) {
  if (!agent) return;
  const bool awaited = agent->heartbeat_deadline.has_value();
  UPGRADER_CHECK(!awaited || (agent->activated && !agent->stopped && !agent->killed));
  UPGRADER_CHECK(!agent->silent || (agent->activated && !agent->stopped && !awaited));
}

// Checks an agent whose `activate` is not written whole yet: the agent must have said `ready` and
// must not be active, and there must be no other agent.
void check_activate(const std::optional<Agent>& agent, const std::optional<Agent>& other) {
  if (!agent || !agent->activate_waits) return;
  UPGRADER_CHECK(agent->ready && !agent->activated && !agent->killed && !agent->input_closed);
  UPGRADER_CHECK(agent->deadline && !agent->close_deadline && !other);
}

}  // namespace

Pending pending_on(const Action& action) {
  if (const auto* send = std::get_if<Send>(&action)) {
    const bool activate = std::holds_alternative<agent_protocol::Activate>(send->message);
    return activate ? Pending::activate : Pending::nothing;
  }
  if (std::holds_alternative<Check>(action)) return Pending::check;
  if (std::holds_alternative<FindWayBack>(action)) return Pending::way_back;
  if (std::holds_alternative<PutLinkBack>(action)) return Pending::link_back;
  if (std::holds_alternative<Spawn>(action)) return Pending::spawn;
  if (std::holds_alternative<ProveRelink>(action)) return Pending::relink_proof;
  return std::holds_alternative<Relink>(action) ? Pending::relink : Pending::nothing;
}

void check_state(const State& state, const Actions& actions) {
  const auto& incumbent = state.incumbent;
  const auto& candidate = state.candidate;
  UPGRADER_CHECK(!candidate || !candidate->activated);
  UPGRADER_CHECK(!candidate || candidate->role == Role::candidate || candidate->standby);
  UPGRADER_CHECK(!candidate || state.upgrade || state.exit_with || state.shutdown || state.quit ||
                 (candidate->standby && candidate->killed));
  UPGRADER_CHECK(!candidate || !candidate->standby || incumbent || candidate->killed);
  UPGRADER_CHECK(!incumbent || !incumbent->activated || incumbent->ready);
  UPGRADER_CHECK(!incumbent || !incumbent->told || incumbent->activated);
  UPGRADER_CHECK(!incumbent || !incumbent->works || incumbent->activated);
  UPGRADER_CHECK(!incumbent || !incumbent->stopped || incumbent->told);
  UPGRADER_CHECK(!incumbent || incumbent->activated || !candidate);
  check_heartbeat(incumbent);
  check_heartbeat(candidate);
  check_activate(incumbent, candidate);
  check_activate(candidate, incumbent);
  UPGRADER_CHECK(!state.ended || (!incumbent && !candidate && !state.spawning));
  UPGRADER_CHECK((state.pending == Pending::spawn) == state.spawning.has_value());
  for (const Action& action : actions) {
    const bool is_last = &action == &actions.back();
    UPGRADER_CHECK(pending_on(action) == (is_last ? state.pending : Pending::nothing));
  }
  const bool asks = state.pending != Pending::nothing;
  UPGRADER_CHECK(!asks || !actions.empty());
  UPGRADER_CHECK(!asks || !(state.shutdown || state.quit || state.ended));
}

}  // namespace upgrader
