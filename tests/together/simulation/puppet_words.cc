#include "tests/together/simulation/puppet_words.h"

namespace upgrader::simulation {

using namespace agent_protocol;
using test::EventKind;
using test::is_signal_id;

namespace {

// Returns an id for a message. With `by_signal` it has the form of the ids that the upgrader gives
// to upgrades by SIGUSR2, otherwise another form. The id of the upgrade under way is taken if it
// has that form; else the id that the agent has been told; else the id that the exploration uses.
std::string id_of(const Agent& agent, const State& state, bool by_signal) {
  if (state.upgrade && is_signal_id(state.upgrade->id) == by_signal) return state.upgrade->id;
  if (agent.told_id && is_signal_id(*agent.told_id) == by_signal) return *agent.told_id;
  return by_signal ? "sigusr2-1" : "u1";
}

// Returns the exploration's request with this number; the first has the number 0. `said` has the
// time limits that the request sets.
Upgrade request_for(std::size_t which, const SaidTimes& said) {
  Upgrade upgrade;
  upgrade.id = "u1";
  upgrade.executable = "/opt/agent-v2";
  if (which == 1 || which == 7) upgrade.on_unclean_stop = UncleanStop::carry_on;
  if (which == 1 || which == 5) upgrade.trial_ms = 0;
  if (which == 2 || which == 3) upgrade.gate = Gate::confirm;
  if (which == 2) upgrade.confirm_timeout_ms = said.confirm_timeout_ms;
  if (which == 3) upgrade.start_timeout_ms = 0;
  if (which == 4 || which == 5) upgrade.commit = CommitRule::healthy;
  if (which == 6 || which == 7) upgrade.mode = Mode::sequential;
  return upgrade;
}

}  // namespace

std::optional<AgentMessage> message_for(EventKind kind, const Agent& agent, const State& state,
                                        const SaidTimes& said) {
  if (kind >= EventKind::first_upgrade && kind <= EventKind::last_upgrade) {
    return request_for(
        static_cast<std::size_t>(kind) - static_cast<std::size_t>(EventKind::first_upgrade), said);
  }
  switch (kind) {
    case EventKind::hello:
      return Hello{protocol_version, "1.0", {}};
    case EventKind::hello_readiness:
      return Hello{protocol_version, "1.0", {"readiness"}};
    case EventKind::ready:
    case EventKind::last_ready:
      return Ready{};
    case EventKind::unfit:
    case EventKind::last_unfit:
      return Unfit{"broken"};
    case EventKind::confirm:
      return Confirm{id_of(agent, state, false)};
    case EventKind::confirm_signal:
      return Confirm{id_of(agent, state, true)};
    case EventKind::confirm_other:
      return Confirm{"u0"};
    case EventKind::cancel:
    case EventKind::cancel_at_limit:
      return Cancel{id_of(agent, state, false), std::nullopt};
    case EventKind::cancel_signal:
      return Cancel{id_of(agent, state, true), std::nullopt};
    case EventKind::cancel_other:
      return Cancel{"u0", "why not"};
    case EventKind::stopped:
    case EventKind::last_stopped:
      return Stopped{"left"};
    case EventKind::healthy:
      return Healthy{};
    case EventKind::extend:
    case EventKind::extend_at_limit:
      return Extend{said.extend_ms};
    case EventKind::heartbeat:
      return Heartbeat{};
    case EventKind::status:
      return Status{"fine"};
    default:
      return std::nullopt;
  }
}

}  // namespace upgrader::simulation
