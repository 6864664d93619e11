#include "upgrader/core/init_news.h"

#include "upgrader/core/state.h"
#include "upgrader/core/words.h"

namespace upgrader {
namespace {

using agent_protocol::Role;

// The most bytes of a failure's reason in the status line. A whole reason would leave no room for
// the status that the agent itself has sent.
constexpr std::size_t reason_bytes_shown = 200;

// Returns the agent's name for the status line, such as "v2 (generation 3)".
std::string name_of(const Agent& agent) {
  if (!agent.version) return "generation {}"_with(agent.generation);
  return "{} (generation {})"_with(*agent.version, agent.generation);
}

// Returns true if the agent is active and, if it has the feature readiness, has said `healthy`. An
// agent that was started as a candidate need not say `healthy`: the end of its upgrade shows
// whether it works.
bool is_ready(const Agent& agent) {
  return agent.activated && (agent.works || agent.role == Role::candidate);
}

std::string with_incumbent(const char* deed, const State& state) {
  return "{} {}{}"_with(deed, name_of(*state.incumbent), state.incumbent->silent ? ", silent" : "");
}

std::string running(const State& state) {
  return with_incumbent(is_ready(*state.incumbent) ? "running" : "starting", state);
}

std::string starting(const std::optional<Agent>& agent) {
  return agent ? "starting {}"_with(name_of(*agent)) : "starting";
}

// Returns the failure of the last upgrade, for the status line. The failure is shown until the next
// upgrade begins; otherwise a failed upgrade would look like a successful one.
std::string last_failure(const State& state) {
  if (!state.last_failure) return "";
  return "; {}"_with(words::in_short(*state.last_failure, reason_bytes_shown));
}

std::string with_upgrade(const std::string& agent, const State& state, std::string_view how) {
  return "{}; upgrade {}{}"_with(agent, state.upgrade->id, how);
}

std::string status_of(const State& state) {
  switch (phase_of(state)) {
    case Phase::starting:
      return starting(state.incumbent);
    case Phase::running:
      return running(state) + last_failure(state);
    case Phase::preparing:
      return with_upgrade(running(state), state, ": {}"_with(starting(state.candidate)));
    case Phase::confirming:
      return with_upgrade(running(state), state, " waits to be confirmed");
    case Phase::switching:
      return with_upgrade(with_incumbent("stopping", state), state, "");
    case Phase::replacing:
      return with_upgrade(starting(state.candidate), state, ", nobody is active");
    case Phase::trial:
      return with_upgrade(running(state), state, " on trial");
    case Phase::abandoning:
      return state.upgrade ? with_upgrade(running(state), state, " has failed") : running(state);
    case Phase::rolling_back:
      return with_upgrade(with_incumbent("stopping", state), state, " has failed, rolling back");
    case Phase::falling_back:
      return with_upgrade(starting(state.incumbent), state, " has failed, falling back");
    case Phase::shutting_down:
      return (state.incumbent ? with_incumbent("stopping", state) : "stopping") +
             last_failure(state);
    case Phase::ended:
      return "stopping";
  }
  return "";
}

std::optional<InitWait> wait_of(const State& state) {
  // A sequential upgrade stops the old agent before it starts the new one. While no agent is
  // active, the upgrader waits for the candidate.
  const std::optional<Agent>& agent = state.incumbent ? state.incumbent : state.candidate;
  if (!agent || agent->killed || agent->terminated || agent->activate_waits || !agent->deadline)
    return std::nullopt;
  // Init limits the time of a start and of a stop. It must be asked for more time in these cases:
  // - The agent has sent an `extend`.
  // - The agent is not the first one: earlier agents may have used up init's limit.
  // - The agent is active and must say `healthy`: the wait for its `ready` may have used up the
  //   limit.
  // - The agent was told to stop for an upgrade or a roll-back: it keeps that time limit when the
  //   service stops.
  const bool extended = agent->extended != Duration::zero() ||
                        (agent->told ? agent->told != agent_protocol::StopReason::shutdown
                                     : agent->activated || agent->role != Role::first);
  const auto what = agent->told ? InitWait::What::stopped : InitWait::What::ready;
  return InitWait{what, agent->generation, *agent->deadline, extended};
}

}  // namespace

InitNews init_news(const State& state) {
  const Phase phase = phase_of(state);
  return {.active = state.incumbent && is_ready(*state.incumbent),
          .stopping = phase == Phase::shutting_down || phase == Phase::ended,
          .vouched = !state.incumbent || !state.incumbent->silent,
          .reloading = state.upgrade && (state.upgrade->origin == Origin::signal ||
                                         state.upgrade->origin == Origin::control),
          .reloads = state.upgrade_signals + state.control_reloads,
          .wait = wait_of(state),
          .status = status_of(state),
          .until = awaited_until(state)};
}

}  // namespace upgrader
