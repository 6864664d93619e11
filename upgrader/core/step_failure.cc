// A step of the supervisor: how an upgrade fails.
#include <utility>

#include "upgrader/core/step.h"
#include "upgrader/core/supervisor.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::Failure;
using agent_protocol::fit_text;
using agent_protocol::Role;
using agent_protocol::Stage;
using agent_protocol::StopReason;

// It was refused before anything was started.
void Step::refuse_upgrade(const Trouble& trouble) {
  fail_upgrade(Stage::request, trouble.reason, trouble.errno_name);
}

// An upgrade that never became the one under way.
void Step::answer_refusal(Agent& agent, const std::string& id, const std::string& reason) {
  notice(agent.generation, NoticeKind::refusal, "upgrade {} refused: {}"_with(id, reason));
  send(agent,
       agent_protocol::UpgradeFailed{words::failure_of(id, Stage::request, reason, "", nullptr)});
}

void Step::held_agent_failed(Agent& agent, const std::string& reason) {
  if (agent.role == Role::candidate) {
    candidate_failed(reason, nullptr);
    return;
  }
  kill(agent);
  if (agent.standby) return standby_lost(in_words(agent), reason);
  if (agent.role == Role::first) {
    return first_failed(Stage::start, reason, "", nullptr, exit_own_failure, agent.version);
  }
  fallback_failed(agent, reason, nullptr);
}

// There is nothing behind a fallback.
void Step::fallback_failed(const Agent& agent, const std::string& reason, const Ending* ending) {
  if (state_.upgrade->boot) {
    state_.upgrade->failure =
        words::failure_of(state_.upgrade->id, Stage::start, reason, "", ending);
  }
  end_with(exit_own_failure, "{} failed: {}"_with(agent, reason));
}

void Step::candidate_failed(const std::string& reason, const Ending* ending) {
  const bool news = state_.incumbent && state_.incumbent->told == StopReason::upgrade &&
                    !state_.incumbent->stopped && !state_.incumbent->killed &&
                    !state_.upgrade->failure;
  if (news) {
    send(*state_.incumbent,
         agent_protocol::CandidateLost{state_.upgrade->id,
                                       fit_text(reason, agent_protocol::reason_bytes_max)});
  }
  fail_upgrade(Stage::start, reason, "", ending);
}

void Step::fail_upgrade(Stage stage, const std::string& reason, std::string_view errno_name,
                        const Ending* ending) {
  note_failure(stage, reason, errno_name, ending);
  step_back();
}

// Keeps the first cause.
void Step::note_failure(Stage stage, const std::string& reason, std::string_view errno_name,
                        const Ending* ending) {
  UpgradeUnderWay& upgrade = *state_.upgrade;
  upgrade.deadline.reset();
  upgrade.waits_for_confirm = false;
  if (upgrade.failure) return;
  Failure failure = words::failure_of(upgrade.id, stage, reason, errno_name, ending);
  const std::string told = words::failed(upgrade, failure, state_.incumbent);
  if (stage == Stage::request && upgrade.origin == Origin::agent) {
    notice(state_.incumbent->generation, NoticeKind::refusal, told);
  } else if (!upgrade.unanswered_name.empty()) {
    answer_upgrade(failure.reason);
  } else {
    log(LogLevel::warning, told);
  }
  upgrade.failure = std::move(failure);
  restore_link_for_signal();
}

// Takes the next step back after a failure, as far as can be gone now: to the incumbent, if it
// has or keeps the work; otherwise to a fallback, once no other agent is left.
void Step::step_back() {
  const bool standby = state_.candidate && state_.candidate->standby;
  if (state_.candidate && !state_.candidate->killed && !standby) kill(*state_.candidate);
  if (state_.incumbent) {
    Agent& agent = *state_.incumbent;
    if (on_trial(agent) && !agent.told) {
      tell_stop(agent, StopReason::rollback, state_.upgrade->terms.stop_timeout);
    } else if (!agent.told && !state_.candidate) {
      end_failed_upgrade();
    }
    return;
  }
  if (state_.candidate && state_.candidate->killed) return;
  const bool boot_failed = state_.upgrade->boot && state_.upgrade->failure;
  if (boot_failed) return end_with(exit_own_failure, "the way back has failed, too");
  fall_back();
}

// It is no failure of the upgrade. All that follows is that a fall-back, if one is needed, starts
// the previous program once more.
void Step::standby_lost(const std::string& who, const std::string& reason) {
  log(LogLevel::warning,
      "{} stood by and failed: {}; a fall-back will start the previous program once more"_with(
          who, reason));
}

// No agent has the work any more. A living standby gets it now, or at its `ready`.
void Step::fall_back() {
  if (!state_.candidate) {
    return order_spawn(Role::fallback, state_.upgrade->previous, state_.last_generation + 1);
  }
  state_.incumbent = std::exchange(state_.candidate, std::nullopt);
  if (state_.incumbent->ready && !has_closed(*state_.incumbent)) activate_incumbent();
}

// Records how the upgrade under way ended, if it was accepted.
void Step::record_ending(Outcome outcome, std::string_view reason) {
  if (!state_.upgrade || !state_.upgrade->generation) return;
  RecordEnding ending{outcome, state_.upgrade->failure};
  if (outcome != Outcome::committed && !ending.failure) {
    ending.failure = Failure{};
    ending.failure->id = state_.upgrade->id;
    ending.failure->stage = Stage::shutdown;
    ending.failure->reason = fit_text(reason, agent_protocol::reason_bytes_max);
  }
  actions_.emplace_back(std::move(ending));
}

void Step::end_failed_upgrade() {
  record_ending(Outcome::kept);
  const UpgradeUnderWay upgrade = *std::exchange(state_.upgrade, std::nullopt);
  state_.last_failure = upgrade.failure;
  if (!upgrade.known_to_agent) return;
  send(*state_.incumbent, agent_protocol::UpgradeFailed{*upgrade.failure});
}

// AGENT's link may name what was asked for and is not committed.
bool Step::owes_link() const {
  return policy_.relink && state_.upgrade && state_.upgrade->names_agent;
}

void Step::restore_link_for_signal() {
  if (owes_link()) actions_.emplace_back(RestoreLink{});
}

// For an upgrade that was asked for and could not begin. Before the start the link is another
// upgrader's, whose lock is waited for.
void Step::restore_link_unless_waiting() {
  if (policy_.relink && started()) actions_.emplace_back(RestoreLink{});
}

}  // namespace upgrader
