// A step of the supervisor: an agent is given the work, or is not reached by that.
#include <utility>

#include "base/check.h"
#include "upgrader/core/step.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::FallbackMode;
using agent_protocol::Role;

void Step::activate_incumbent() {
  send_activate(*state_.incumbent, state_.upgrade && state_.upgrade->boot);
}

void Step::activate_candidate() {
  UPGRADER_CHECK(!state_.incumbent && state_.candidate->ready && !has_closed(*state_.candidate));
  send_activate(*state_.candidate, true);
}

// Until `activate` has been written whole the agent is held, and what the agent before it left is
// kept. To read what is before it the agent has as long as its trial lasts; without a trial, which
// is also one of 0, the stop timeout.
void Step::send_activate(Agent& agent, bool has_trial) {
  const Terms& terms = state_.upgrade ? state_.upgrade->terms : policy_.defaults;
  const bool on_trial = has_trial && terms.trial != Duration::zero();
  agent.activate_waits = true;
  await(agent, Awaited::activate, on_trial ? terms.trial : terms.stop_timeout);
  agent_protocol::Activate activate;
  if (state_.legacy) activate = {state_.legacy->state, state_.legacy->clean, std::nullopt};
  if (agent.standby && !agent.knows_failure) {
    activate.failure = {*state_.upgrade->failure, state_.upgrade->version};
    agent_protocol::fit_line(activate);
  }
  if (on_trial) {
    activate.trial_ms = terms.trial.count();
    activate.commit = terms.commit;
  }
  order(Pending::activate, Send{agent.generation, std::move(activate)});
}

// The agent that was sent `activate` has the work now.
void Step::activated() {
  if (state_.candidate) state_.incumbent = std::exchange(state_.candidate, std::nullopt);
  Agent& agent = *state_.incumbent;
  const std::optional<Time> trial_end = std::exchange(agent.deadline, std::nullopt);
  agent.activate_waits = false;
  agent.activated = true;
  agent.works = !agent.has_readiness;
  if (!agent.works && agent.role != Role::candidate) {
    await(agent, Awaited::healthy, start_timeout_of(agent.role));
  }
  state_.legacy.reset();
  await_heartbeat(agent);
  switch (agent.role) {
    case Role::first:
      log(LogLevel::info, "{} is active"_with(agent));
      await_lasting();
      return;
    case Role::candidate:
      begin_trial(agent, trial_end);
      return;
    case Role::fallback:
      if (state_.upgrade->boot) return begin_trial(agent, trial_end);
      log(LogLevel::warning, "upgrade {} failed; {} is active again with the previous program"_with(
                                 state_.upgrade->id, agent));
      record_ending(Outcome::fell_back);
      state_.last_failure = std::move(state_.upgrade->failure);
      state_.upgrade.reset();
      await_lasting();
      return;
  }
}

void Step::begin_trial(const Agent& agent, const std::optional<Time>& end) {
  const Duration trial = state_.upgrade->terms.trial;
  if (trial == Duration::zero()) {
    log(LogLevel::info, "{} is active, without a trial"_with(agent));
    return commit();
  }
  log(LogLevel::info, "{} is active, on trial for {}"_with(agent, trial));
  state_.upgrade->deadline = end;
  if (state_.upgrade->boot || state_.upgrade->terms.fallback == FallbackMode::cold) return;
  order_spawn(Role::fallback, state_.upgrade->previous, state_.last_generation + 1);
}

// It was never activated, and fails like any held agent that has closed a pipe.
void Step::activate_lost(Agent& agent) {
  agent.activate_waits = false;
  agent.input_closed = true;
  agent.deadline.reset();
  start_close_grace(agent);
}

void Step::take(const ActivateWritten& event) {
  const Agent* agent = find(event.generation);
  if (agent != nullptr && agent->activate_waits) activated();
}

void Step::take(const ActivateSent& event) {
  if (!expect(Pending::activate)) return;
  Agent* agent = find(event.generation);
  UPGRADER_CHECK(agent != nullptr && agent->activate_waits);
  if (event.how == ActivateSent::How::written) activated();
  if (event.how == ActivateSent::How::lost) activate_lost(*agent);
}

}  // namespace upgrader
