#include "upgrader/core/state.h"

namespace upgrader {
namespace {

using agent_protocol::StopReason;

Phase phase_of_upgrade(const State& state) {
  const UpgradeUnderWay& upgrade = *state.upgrade;
  if (!state.incumbent) {
    return upgrade.failure || upgrade.boot ? Phase::falling_back : Phase::replacing;
  }
  const Agent& incumbent = *state.incumbent;
  if (!incumbent.activated) return Phase::falling_back;
  if (incumbent.told == StopReason::rollback) return Phase::rolling_back;
  if (incumbent.told) return Phase::switching;
  if (upgrade.generation == incumbent.generation) return Phase::trial;
  if (upgrade.failure) return Phase::abandoning;
  return upgrade.waits_for_confirm ? Phase::confirming : Phase::preparing;
}

std::optional<Time> deadline_of(const std::optional<Agent>& agent) {
  // A killed agent has nothing left to do in time: its `deadline` is only the time at which the log
  // repeats that it has not exited yet.
  if (!agent || agent->killed) return std::nullopt;
  return agent->deadline;
}

}  // namespace

Phase phase_of(const State& state) {
  if (state.ended) return Phase::ended;
  if (state.shutdown || state.quit || state.exit_with) return Phase::shutting_down;
  if (state.upgrade) return phase_of_upgrade(state);
  // Without an upgrade, state.candidate is a standby: a fallback that was started in advance and is
  // no longer needed, since the upgrade was committed. It has been killed, and has not exited yet.
  if (state.candidate) return Phase::abandoning;
  return state.incumbent && state.incumbent->activated ? Phase::running : Phase::starting;
}

std::optional<Time> awaited_until(const State& state) {
  switch (phase_of(state)) {
    case Phase::preparing:
    case Phase::replacing:
      return earlier_of(deadline_of(state.candidate), deadline_of(state.incumbent));
    case Phase::confirming:
    case Phase::trial:
      return earlier_of(state.upgrade->deadline, deadline_of(state.incumbent));
    case Phase::starting:
    case Phase::running:
    case Phase::switching:
    case Phase::rolling_back:
    case Phase::falling_back:
    case Phase::shutting_down:
      return deadline_of(state.incumbent);
    case Phase::abandoning:
    case Phase::ended:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace upgrader
