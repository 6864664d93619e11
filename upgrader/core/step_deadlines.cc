// A step of the supervisor: deadlines of agents and of the upgrade under way.
#include <algorithm>

#include "upgrader/core/step.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::CommitRule;
using agent_protocol::Stage;
using agent_protocol::StopReason;

namespace {

// Tells `look` of every deadline that may be set.
template <class Look>
void look_at_deadlines(State& state, const Look& look) {
  for (std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent) continue;
    for (const auto deadline : agent_deadlines)
      look(**agent.*deadline);
  }
  if (state.upgrade) look(state.upgrade->deadline);
  look(state.attempts_deadline);
}

}  // namespace

// Handles at most one deadline: the shell reads what agents have sent before it asks again.
void Step::take(const DeadlinePassed& event) {
  passed_by_ = std::min(now_, event.by);
  put_off_what_is_late();
  if (state_.candidate && agent_deadline_passed(*state_.candidate)) return;
  if (state_.incumbent && agent_deadline_passed(*state_.incumbent)) return;
  if (state_.upgrade && has_passed(state_.upgrade->deadline)) return upgrade_deadline_passed();
  if (has_passed(state_.attempts_deadline)) has_lasted();
}

bool Step::has_passed(const std::optional<Time>& deadline) const {
  return deadline && *deadline <= passed_by_;
}

// An agent that was frozen with the upgrader gets the lost time again. Each deadline is put off
// only once, so that every deadline is judged in the end, however often the upgrader is frozen.
void Step::put_off_what_is_late() {
  std::erase_if(state_.put_off, [&](Time before) {
    bool is_set = false;
    look_at_deadlines(state_, [&](const std::optional<Time>& deadline) {
      is_set = is_set || deadline == before;
    });
    return !is_set;
  });
  Duration longest{};
  look_at_deadlines(state_, [&](std::optional<Time>& deadline) {
    if (!has_passed(deadline) || is_put_off(*deadline)) return;
    const Duration late = now_ - *deadline;
    if (late <= late_at_most) return;
    longest = std::max(longest, late);
    deadline = now_ + std::min(late, grace_max);
    state_.put_off.push_back(*deadline);
  });
  if (longest == Duration::zero()) return;
  log(LogLevel::warning,
      "deadlines come {} late: the upgrader did not run; what was due has {} more"_with(
          words::in_whole_seconds(longest), words::in_whole_seconds(std::min(longest, grace_max))));
}

bool Step::is_put_off(Time deadline) const {
  return std::find(state_.put_off.begin(), state_.put_off.end(), deadline) != state_.put_off.end();
}

// True if a deadline of this agent had passed, and has been dealt with.
bool Step::agent_deadline_passed(Agent& agent) {
  if (has_passed(agent.close_deadline)) {
    agent.close_deadline.reset();
    held_agent_failed(agent, words::closed_its_pipe(agent));
    return true;
  }
  if (has_passed(agent.heartbeat_deadline)) {
    heartbeat_missed(agent);
    return true;
  }
  if (has_passed(agent.hello_deadline)) {
    agent.hello_deadline.reset();
    log(LogLevel::warning,
        "{} has not said hello for {}; {}"_with(agent, hello_patience, words::may_not_speak));
    return true;
  }
  if (!has_passed(agent.deadline)) return false;
  switch (agent.awaited) {
    case Awaited::ready:
      agent.hello_deadline.reset();  // it has been waited for long enough
      held_agent_failed(agent, "not ready {}{}"_with(words::within(agent), words::hint(agent)));
      break;
    case Awaited::activate:
      agent.activate_late = true;
      actions_.emplace_back(CloseInput{agent.generation});
      activate_lost(agent);
      break;
    case Awaited::healthy:
      does_not_work(agent);
      break;
    case Awaited::stopped:
    case Awaited::exit:
      log(LogLevel::warning,
          agent.stopped ? "{} lingers after its clean stop; killing it"_with(agent)
                        : "{} has not stopped {}; killing it"_with(agent, words::within(agent)));
      kill(agent);
      break;
    case Awaited::log_line:
      log(LogLevel::warning, "{} has been killed, but has not ended yet; waiting"_with(agent));
      agent.deadline = now_ + killed_log_interval;
      break;
  }
  return true;
}

// A first agent or a fallback, for whose word init has waited long enough.
void Step::does_not_work(Agent& agent) {
  const std::string reason = "did not say healthy {}"_with(words::within(agent));
  if (on_trial(agent)) return fail_upgrade(Stage::trial, reason);
  restore_link_for_signal();
  if (state_.upgrade) drop_upgrade("the active agent failed");
  kill(agent);
  end_with(exit_own_failure, "{} failed: {}"_with(agent, reason));
}

// On trial that is a failure; otherwise all that follows is that nobody vouches for it.
void Step::heartbeat_missed(Agent& agent) {
  const std::string reason = "no heartbeat within {}"_with(policy_.watchdog);
  if (on_trial(agent)) return fail_upgrade(Stage::trial, reason);
  agent.heartbeat_deadline.reset();
  agent.silent = true;
  log(LogLevel::warning, "{} is silent: {}"_with(agent, reason));
}

// An agent that has stopped, or is rolled back, owes no heartbeats any more: of the latter only the
// exit is awaited.
void Step::await_heartbeat(Agent& agent) {
  if (agent.stopped || agent.told == StopReason::rollback) return;
  agent.silent = false;
  agent.heartbeat_deadline = deadline_after(now_, policy_.watchdog);
}

void Step::await_no_heartbeat(Agent& agent) {
  agent.silent = false;
  agent.heartbeat_deadline.reset();
}

void Step::upgrade_deadline_passed() {
  const UpgradeUnderWay& upgrade = *state_.upgrade;
  if (upgrade.waits_for_confirm) {
    fail_upgrade(Stage::confirm, "not confirmed within {}"_with(upgrade.terms.confirm_timeout));
  } else if (upgrade.terms.commit == CommitRule::healthy) {
    fail_upgrade(Stage::trial, "did not say healthy within {}"_with(upgrade.terms.trial));
  } else {
    commit();
  }
}

void Step::start_close_grace(Agent& agent) {
  if (agent.killed || agent.terminated || agent.close_deadline) return;
  agent.close_deadline = now_ + close_grace;
}

}  // namespace upgrader
