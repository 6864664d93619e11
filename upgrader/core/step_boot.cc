// A step of the supervisor: a first agent that fails, and the way back across restarts (--previous,
// --attempts).
#include <utility>

#include "upgrader/core/step.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::CommitRule;
using agent_protocol::Gate;
using agent_protocol::Mode;
using agent_protocol::Role;
using agent_protocol::Stage;

void Step::take(const StartRefused& event) {
  if (started()) return;
  first_failed(Stage::spawn, event.trouble.reason, event.trouble.errno_name, nullptr,
               event.exit_status);
}

// After any failure of a first agent: if there is a way back, it is started.
void Step::first_failed(Stage stage, const std::string& reason, std::string_view errno_name,
                        const Ending* ending, int status,
                        const std::optional<std::string>& version) {
  agent_protocol::PastFailure past;
  past.failure = words::failure_of("boot", stage, reason, errno_name, ending);
  past.version = version;
  if (!policy_.previous) return end_with(status, words::first_failed(past));
  Terms terms = policy_.defaults;
  terms.mode = Mode::parallel;
  terms.gate = Gate::none;
  terms.commit = CommitRule::survive;
  state_.upgrade = UpgradeUnderWay{};
  UpgradeUnderWay& upgrade = *state_.upgrade;
  upgrade.id = past.failure.id;
  upgrade.origin = Origin::boot;
  upgrade.terms = terms;
  upgrade.boot = std::move(past);
  upgrade.boot_status = status;
  order(Pending::way_back, FindWayBack{});
}

void Step::take(const WayBackFound& event) {
  if (!expect(Pending::way_back)) return;
  UpgradeUnderWay& upgrade = *state_.upgrade;
  upgrade.program = event.program;
  upgrade.previous = event.program;
  state_.attempts_done = true;  // what AGENT's link names does not run any more: it cannot last
  log(LogLevel::warning,
      "{}; going back to what was there before"_with(words::first_failed(*upgrade.boot)));
  if (!state_.incumbent) order_spawn(Role::fallback, event.program, state_.last_generation + 1);
}

void Step::take(const NoWayBack&) {
  if (!expect(Pending::way_back)) return;
  const UpgradeUnderWay upgrade = *std::exchange(state_.upgrade, std::nullopt);
  if (upgrade.boot->failure.stage == Stage::boot) {
    log(LogLevel::warning, "{}; nothing else to start"_with(words::first_failed(*upgrade.boot)));
    return order_spawn(Role::first, *upgrade.program, 1);
  }
  end_with(upgrade.boot_status, words::first_failed(*upgrade.boot));
}

// From its activation: the executable that AGENT's link names has been started in vain until its
// agent has been active for the trial's time.
void Step::await_lasting() {
  if (!policy_.previous && !policy_.attempts) return;
  if (state_.attempts_done) return;
  if (policy_.defaults.trial == Duration::zero()) return has_lasted();
  state_.attempts_deadline = now_ + policy_.defaults.trial;
}

void Step::has_lasted() {
  state_.lasted = true;
  forget_attempts();
}

void Step::forget_attempts() {
  state_.attempts_deadline.reset();
  if (!policy_.previous && !policy_.attempts) return;
  state_.attempts_done = true;
  if (policy_.attempts) actions_.emplace_back(ForgetAttempts{});
}

}  // namespace upgrader
