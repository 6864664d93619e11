// A step of the supervisor: the end of the upgrader.
#include <utility>

#include "upgrader/core/step.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::Role;
using agent_protocol::Stage;
using agent_protocol::StopReason;

void Step::take(const StopRequested&) {
  if (state_.shutdown || state_.quit) return;
  state_.shutdown = true;
  log_why_it_ends("told to stop");
  const bool puts_link_back = owes_link();
  if (state_.upgrade) end_upgrade_for_shutdown();
  if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
  if (state_.incumbent) stop_for_shutdown(*state_.incumbent);
  // Both sync files. A slow disk must take nothing of the time that the agent has for its stop.
  if (puts_link_back) actions_.emplace_back(RestoreLink{});
  if (!state_.attempts_done) forget_attempts();
  exit_if_alone();
}

void Step::take(const QuitRequested&) {
  if (state_.quit) return;
  state_.quit = true;
  log_why_it_ends("told to quit at once");
  const bool puts_link_back = owes_link();
  if (state_.upgrade) drop_upgrade("the upgrader was told to quit");
  if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
  if (state_.incumbent && !state_.incumbent->killed) kill(*state_.incumbent);
  if (puts_link_back) actions_.emplace_back(RestoreLink{});
  exit_if_alone();
}

void Step::take(const SignalReceived& event) {
  if (!state_.incumbent || !state_.incumbent->activated) {
    log(LogLevel::info, "signal {} dropped: no agent is active"_with(event.signal));
    return;
  }
  actions_.emplace_back(PassSignal{state_.incumbent->generation, event.signal});
}

void Step::log_why_it_ends(std::string why) {
  const std::size_t bytes = why.size();
  actions_.emplace_back(Log{LogLevel::info, std::move(why), bytes});
}

// The upgrader ends with this status, once all that still runs has been killed and reaped. Nobody
// asked for that, so it is worth more than a line of information.
void Step::end_with(int status, const std::string& why) {
  actions_.emplace_back(Log{status == 0 ? LogLevel::warning : LogLevel::error,
                            "{}; {}"_with(why, words::ends_with(status)), why.size()});
  record_ending(Outcome::ended, why);
  state_.exit_with = status;
  state_.upgrade.reset();
  if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
  exit_if_alone();
}

// It ends with the upgrader; nobody is left to be told. The link that it owes is the caller's.
void Step::drop_upgrade(const std::string& reason) {
  log(LogLevel::warning, "upgrade {} ends uncommitted: {}"_with(state_.upgrade->id, reason));
  record_ending(Outcome::ended, reason);
  state_.upgrade.reset();
}

void Step::end_upgrade_for_shutdown() {
  const UpgradeUnderWay upgrade = *state_.upgrade;
  std::string reason = "the upgrader was told to stop";
  if (upgrade.failure) reason += "; before that: {}"_with(upgrade.failure->reason);
  const bool owed = state_.incumbent && state_.incumbent->activated &&
                    !on_trial(*state_.incumbent) && upgrade.known_to_agent &&
                    !state_.incumbent->stopped && !state_.incumbent->killed;
  drop_upgrade(reason);
  if (!owed) return;
  send(*state_.incumbent, agent_protocol::UpgradeFailed{
                              words::failure_of(upgrade.id, Stage::shutdown, reason, "", nullptr)});
}

void Step::stop_for_shutdown(Agent& agent) {
  if (agent.killed || agent.told) return;
  if (agent.activated) {
    tell_stop(agent, StopReason::shutdown, policy_.defaults.stop_timeout);
    return;
  }
  if (agent.greeted || agent.role != Role::first) {
    kill(agent);
    return;
  }
  agent.terminated = true;
  agent.hello_deadline.reset();
  agent.close_deadline.reset();
  await(agent, Awaited::exit, policy_.defaults.stop_timeout);
  actions_.emplace_back(Terminate{agent.generation});
}

void Step::exit_if_alone() {
  if (state_.incumbent || state_.candidate) return;
  int status = state_.exit_with.value_or(0);
  if (state_.shutdown) status = state_.legacy ? state_.legacy->exit_status : 0;
  if (state_.quit) status = exit_quit;
  if (state_.shutdown || state_.quit) {
    // The log has another status already where the upgrader was about to end by itself.
    const bool ended_anyway = state_.exit_with && *state_.exit_with != status;
    log(status == 0 ? LogLevel::info : LogLevel::error,
        ended_anyway
            ? "told to {} before that: {}, and not with {}"_with(
                  state_.quit ? "quit" : "stop", words::ends_with(status), *state_.exit_with)
            : words::ends_with(status));
  }
  state_.ended = true;
  state_.upgrade.reset();
  actions_.emplace_back(Exit{status});
}

}  // namespace upgrader
