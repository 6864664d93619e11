// A step of the supervisor: agents that come and go.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "upgrader/core/step.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/core/terms.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::Mode;
using agent_protocol::Role;
using agent_protocol::Stage;
using agent_protocol::UncleanStop;

void Step::take(const StartRequested& event) {
  if (started()) return;
  if (!event.worn_out || !policy_.previous) return order_spawn(Role::first, event.program, 1);
  first_failed(Stage::boot, *event.worn_out, "", nullptr, exit_own_failure);
  state_.upgrade->program = event.program;
}

void Step::take(const OutputClosed& event) {
  Agent* agent = find(event.generation);
  if (agent == nullptr || agent->output_closed) return;
  agent->output_closed = true;
  if (agent->activate_waits) return;  // what counts is whether it takes that
  if (!agent->activated) {
    start_close_grace(*agent);
  } else if (!agent->stopped) {
    log(LogLevel::debug, "{} closed its output; it cannot confirm a stop"_with(*agent));
  }
}

void Step::take(const InputClosed& event) {
  Agent* agent = find(event.generation);
  if (agent == nullptr || agent->input_closed) return;
  if (agent->activate_waits) return activate_lost(*agent);
  agent->input_closed = true;
  if (!agent->activated) {
    start_close_grace(*agent);
  } else if (agent->told) {
    log(LogLevel::debug, "{} no longer reads its input"_with(*agent));
  } else {
    log(LogLevel::warning,
        "{} no longer reads its input; a stop will not reach it, and will end with SIGKILL"_with(
            *agent));
  }
}

void Step::take(const ProcessExited& event) {
  if (state_.candidate && state_.candidate->generation == event.generation) {
    const Agent gone = *std::exchange(state_.candidate, std::nullopt);
    candidate_exited(gone, event.ending);
  } else if (state_.incumbent && state_.incumbent->generation == event.generation) {
    const Agent gone = *std::exchange(state_.incumbent, std::nullopt);
    incumbent_exited(gone, event.ending);
  }
}

void Step::take(const Spawned& event) {
  if (!expect(Pending::spawn)) return;
  UPGRADER_CHECK(state_.spawning && state_.spawning->generation == event.generation);
  Agent agent = *std::exchange(state_.spawning, std::nullopt);
  state_.last_generation = std::max(state_.last_generation, agent.generation);
  await(agent, Awaited::ready, start_timeout_of(agent.role));
  agent.hello_deadline = now_ + hello_patience;
  if (agent.role != Role::candidate && !state_.incumbent) {
    if (state_.upgrade && state_.upgrade->boot) state_.upgrade->generation = event.generation;
    state_.incumbent = std::move(agent);
    return;
  }
  state_.candidate = std::move(agent);
  if (state_.upgrade->generation) return;  // sequential: accepted long since
  state_.upgrade->generation = event.generation;
  tell_accepted();
}

void Step::take(const SpawnFailed& event) {
  if (!expect(Pending::spawn)) return;
  const Role role = std::exchange(state_.spawning, std::nullopt)->role;
  switch (role) {
    case Role::first:
      first_failed(Stage::spawn, event.trouble.reason, event.trouble.errno_name, nullptr,
                   event.not_executable ? exit_not_executable : exit_own_failure);
      return;
    case Role::candidate:
      fail_upgrade(Stage::spawn, event.trouble.reason, event.trouble.errno_name);
      return;
    case Role::fallback:
      if (state_.incumbent) return standby_lost("the standby", event.trouble.reason);
      end_with(exit_own_failure,
               "the fallback could not be started: {}"_with(event.trouble.reason));
      return;
  }
}

void Step::order_spawn(Role role, ProgramId program, Generation generation) {
  state_.spawning = Agent{};
  state_.spawning->generation = generation;
  state_.spawning->role = role;
  state_.spawning->program = program;
  state_.spawning->standby = state_.incumbent && role == Role::fallback;
  order(Pending::spawn, Spawn{generation, program});
}

Duration Step::start_timeout_of(Role role) const {
  switch (role) {
    case Role::first:
      return policy_.defaults.start_timeout;
    case Role::candidate:
      return state_.upgrade->terms.start_timeout;
    case Role::fallback:
      return longer_of(policy_.defaults.start_timeout, state_.upgrade->terms.start_timeout);
  }
  return {};
}

void Step::candidate_exited(const Agent& gone, const Ending& ending) {
  if (gone.killed) {
    log_reaped(gone);
    go_on_after_reaping();
    return;
  }
  if (gone.standby) return standby_lost(in_words(gone), words::failed_to_start(gone, ending));
  candidate_failed(words::failed_to_start(gone, ending), &ending);
}

void Step::incumbent_exited(const Agent& gone, const Ending& ending) {
  if (gone.activated) leave_legacy(gone, ending);
  state_.attempts_deadline.reset();
  const char* const stop = gone.stopped ? " after its clean stop"
                           : gone.told  ? " without having confirmed its stop"
                                        : "";
  const std::string how_it_went = "{} {}{}"_with(gone, ending, stop);
  if (shutting_down()) {
    const bool unclean = gone.activated && state_.shutdown && state_.legacy->exit_status != 0;
    log(unclean ? LogLevel::error : LogLevel::info, how_it_went);
    go_on_after_reaping();
    return;
  }
  if (!gone.activated) return held_incumbent_exited(gone, ending);
  if (!state_.upgrade || (!gone.told && !belongs_to_upgrade(gone))) {
    restore_link_for_signal();
    if (state_.upgrade) drop_upgrade("the active agent exited");
    end_with(exit_status_of(ending), how_it_went);
    return;
  }
  log(LogLevel::info, how_it_went);
  if (!belongs_to_upgrade(gone)) {
    take_over_from(gone, ending);
    return;
  }
  const std::string reason =
      gone.unfit ? "unfit: {}"_with(*gone.unfit) : "{} while it was on trial"_with(ending);
  fail_upgrade(Stage::trial, reason, "", &ending);
}

// A first agent, or a fallback.
void Step::held_incumbent_exited(const Agent& gone, const Ending& ending) {
  const std::string reason = words::failed_to_start(gone, ending);
  if (gone.standby) {
    if (!gone.killed) standby_lost(in_words(gone), reason);
    return step_back();
  }
  if (gone.role != Role::first) return fallback_failed(gone, reason, &ending);
  if (!state_.upgrade) {
    return first_failed(Stage::start, reason, "", &ending, status_after_held(gone, ending),
                        gone.version);
  }
  log_reaped(gone);
  step_back();
}

void Step::log_reaped(const Agent& gone) {
  log(LogLevel::info, "{} has been reaped"_with(gone));
}

// Nothing has ever served where a first agent exits while held, even with status 0.
int Step::status_after_held(const Agent& gone, const Ending& ending) {
  if (gone.unfit) return exit_own_failure;
  const int status = exit_status_of(ending);
  return status == 0 ? exit_own_failure : status;
}

void Step::leave_legacy(const Agent& gone, const Ending& ending) {
  state_.legacy = Legacy{.clean = gone.stopped,
                         .state = gone.state,
                         .exit_status = gone.stopped ? 0 : exit_status_of(ending)};
}

// The incumbent was told to stop for the upgrade, and is gone.
void Step::take_over_from(const Agent& gone, const Ending& ending) {
  UpgradeUnderWay& upgrade = *state_.upgrade;
  if (upgrade.failure) return step_back();
  const bool fall_back = upgrade.terms.on_unclean_stop == UncleanStop::fall_back;
  if (!gone.stopped && fall_back) {
    const std::string reason =
        gone.killed ? "the active agent did not stop {}"_with(words::within(gone))
                    : "the active agent {} without having confirmed its stop"_with(ending);
    fail_upgrade(Stage::stop, reason, "", gone.killed ? nullptr : &ending);
    return;
  }
  if (!gone.stopped) log(LogLevel::warning, "{} stopped uncleanly; going on"_with(gone));
  if (upgrade.terms.mode == Mode::sequential) {
    order_spawn(Role::candidate, *upgrade.program, *upgrade.generation);
    return;
  }
  // It fails as soon as its exit is seen, or its close grace is over.
  if (has_closed(*state_.candidate)) return;
  activate_candidate();
}

void Step::go_on_after_reaping() {
  if (shutting_down()) return exit_if_alone();
  // Without a failure it was a standby: of an agent on trial, or of one that has passed.
  if (state_.upgrade && state_.upgrade->failure) step_back();
}

}  // namespace upgrader
