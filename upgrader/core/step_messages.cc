// A step of the supervisor: what agents say.
#include <algorithm>
#include <utility>

#include "upgrader/core/step.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::AgentMessage;
using agent_protocol::Gate;
using agent_protocol::Role;
using agent_protocol::Stage;
using agent_protocol::StopReason;

void Step::take(const MessageReceived& event) {
  Agent* agent = find(event.generation);
  if (agent == nullptr) return;
  if (event.posthumous || agent->killed || agent->terminated) {
    take_last_words(*agent, event.message);
    return;
  }
  const bool hello = std::holds_alternative<agent_protocol::Hello>(event.message);
  if (!agent->greeted && !hello) {
    refuse_message(*agent, event.message, "the first message must be hello");
    return;
  }
  std::visit([&](const auto& message) { hear(*agent, message); }, event.message);
}

void Step::take(const MessageRefused& event) {
  Agent* agent = find(event.generation);
  if (agent == nullptr || agent->killed || agent->terminated) return;
  if (const auto* unknown = std::get_if<agent_protocol::Unknown>(&event.what)) {
    send_error(*agent, unknown->type, "this type of message is not known here");
    return;
  }
  const auto& malformed = std::get<agent_protocol::Malformed>(event.what);
  if (agent->activated && malformed.id) {
    answer_refusal(*agent, *malformed.id, malformed.reason);
    return;
  }
  send_error(*agent, malformed.type, malformed.reason);
}

void Step::take(const StrayReceived& event) {
  if (find(event.generation) == nullptr) return;
  notice(event.generation, NoticeKind::stray,
         "generation {}: stray output: {}"_with(event.generation, event.text));
}

void Step::hear(Agent& agent, const agent_protocol::Hello& hello) {
  if (agent.greeted) return send_error(agent, "hello", "hello was said already");
  note_hello(agent, hello);
  agent_protocol::Welcome welcome;
  if (agent.has_readiness) welcome.features.emplace_back(agent_protocol::readiness_feature);
  welcome.protocol = std::min(hello.protocol, agent_protocol::protocol_version);
  welcome.generation = agent.generation;
  welcome.role = agent.role;
  if (policy_.watchdog != Duration::zero()) welcome.watchdog_ms = policy_.watchdog.count();
  if (state_.upgrade && agent.role == Role::candidate) {
    welcome.previous_version = state_.upgrade->previous_version;
  }
  if (state_.upgrade && agent.role == Role::fallback) {
    const UpgradeUnderWay& upgrade = *state_.upgrade;
    if (upgrade.failure) welcome.failure = {*upgrade.failure, upgrade.version};
    if (upgrade.boot) welcome.failure = *upgrade.boot;
    agent.knows_failure = welcome.failure.has_value();
  }
  send(agent, std::move(welcome));
}

void Step::hear(Agent& agent, const agent_protocol::Ready&) {
  if (agent.activated) return send_error(agent, "ready", "it is active already");
  if (agent.ready) return send_error(agent, "ready", "ready was said already");
  agent.ready = true;
  agent.deadline.reset();
  if (has_closed(agent)) return;  // it fails as soon as its close grace is over
  if (agent.standby && state_.candidate) {
    log(LogLevel::info, "{} stands by"_with(agent));
    return;
  }
  if (agent.role != Role::candidate) {
    activate_incumbent();
    return;
  }
  if (!state_.incumbent) {
    activate_candidate();
    return;
  }
  if (state_.upgrade->terms.gate == Gate::confirm) {
    wait_for_confirm();
    return;
  }
  pass_gate();
}

void Step::hear(Agent& agent, const agent_protocol::Unfit& unfit) {
  if (agent.activated && (!on_trial(agent) || agent.told)) {
    return send_error(agent, "unfit", "only an agent that is held or on trial may say it");
  }
  const std::string reason = "unfit: {}"_with(unfit.reason);
  if (agent.activated) {
    fail_upgrade(Stage::trial, reason);
  } else {
    held_agent_failed(agent, reason);
  }
}

void Step::hear(Agent& agent, const agent_protocol::Upgrade& upgrade) {
  if (!agent.activated) return send_error(agent, "upgrade", "only the active agent may say it");
  if (const std::optional<std::string> busy = why_busy()) {
    answer_refusal(agent, upgrade.id, *busy);
    return;
  }
  begin_upgrade(upgrade, Origin::agent);
}

void Step::hear(Agent& agent, const agent_protocol::Confirm& confirm) {
  if (!agent.activated || phase_of(state_) != Phase::confirming ||
      state_.upgrade->id != confirm.id || state_.upgrade->origin == Origin::control) {
    return send_error(agent, "confirm", "no upgrade of this id waits to be confirmed");
  }
  open_gate();
}

void Step::hear(Agent& agent, const agent_protocol::Cancel& cancel) {
  if (agent.stopped) return send_error(agent, "cancel", "stopped was said already");
  if (state_.shutdown && agent.told_id == cancel.id) {
    tell_stop(agent, StopReason::shutdown, time_left(agent));
    return;
  }
  const bool knows = agent.activated && state_.upgrade && state_.upgrade->id == cancel.id &&
                     state_.upgrade->known_to_agent && !on_trial(agent);
  if (!knows) return send_error(agent, "cancel", "no upgrade of this id can be cancelled now");
  // Otherwise the failure's own line says that the agent stays active, and why.
  const bool had_failed = state_.upgrade->failure.has_value();
  if (agent.told && had_failed) {
    log(LogLevel::info, "{} has taken its work back, and stays active{}"_with(
                            agent, words::behind_colon(cancel.reason)));
  }
  if (agent.told) agent.deadline.reset();
  agent.told.reset();
  agent.told_id.reset();
  fail_upgrade(Stage::cancel,
               "cancelled by the active agent{}"_with(words::behind_colon(cancel.reason)));
}

void Step::hear(Agent& agent, const agent_protocol::Stopped& stopped) {
  if (!agent.told) return send_error(agent, "stopped", "no stop was sent");
  if (agent.stopped) return send_error(agent, "stopped", "stopped was said already");
  note_stopped(agent, stopped);
}

void Step::hear(Agent& agent, const agent_protocol::Healthy&) {
  const bool commits = on_trial(agent) && !agent.told;
  if (!commits && !(agent.activated && agent.has_readiness)) {
    const bool too_late = agent.told == StopReason::rollback;
    return send_error(agent, "healthy",
                      too_late ? "it is being rolled back" : "it is not on trial");
  }
  if (!agent.works) {
    agent.works = true;
    if (!agent.told) agent.deadline.reset();
    log(LogLevel::info, "{} says that it works"_with(agent));
  }
  if (commits) commit();
}

void Step::hear(Agent& agent, const agent_protocol::Extend& extend) {
  const bool starting = !agent.ready || (agent.activated && !agent.works && !agent.told);
  const bool stopping = agent.told && !agent.stopped;
  if (!starting && !stopping) return send_error(agent, "extend", "nothing waits for it");
  if (!agent.deadline) return;
  const Duration added = std::max(Duration{0}, now_ + Duration(extend.ms) - *agent.deadline);
  *agent.deadline += added;
  agent.allowed += added;
  agent.extended += added;
}

void Step::hear(Agent& agent, const agent_protocol::Heartbeat&) {
  if (!agent.activated) {
    return send_error(agent, "heartbeat", "only the active agent may say it");
  }
  if (agent.silent) log(LogLevel::info, "{} sends heartbeats again"_with(agent));
  await_heartbeat(agent);
}

// A message of a process that has died or is being killed: a confirmed stop counts, and a reason is
// recorded. Other messages are too late.
void Step::take_last_words(Agent& agent, const AgentMessage& message) {
  const auto* hello = std::get_if<agent_protocol::Hello>(&message);
  if (hello != nullptr && !agent.greeted) note_hello(agent, *hello);
  if (!agent.greeted) return;
  if (const auto* stopped = std::get_if<agent_protocol::Stopped>(&message)) {
    if (agent.told && !agent.stopped) note_stopped(agent, *stopped);
  } else if (const auto* status = std::get_if<agent_protocol::Status>(&message)) {
    note_status(agent, *status);
  } else if (const auto* unfit = std::get_if<agent_protocol::Unfit>(&message)) {
    agent.unfit = unfit->reason;
  }
}

void Step::note_hello(Agent& agent, const agent_protocol::Hello& hello) {
  agent.greeted = true;
  agent.hello_deadline.reset();
  agent.version = hello.version;
  agent.has_readiness = std::count(hello.features.begin(), hello.features.end(),
                                   agent_protocol::readiness_feature) > 0;
  if (belongs_to_upgrade(agent)) state_.upgrade->version = hello.version;
}

void Step::note_stopped(Agent& agent, const agent_protocol::Stopped& stopped) {
  agent.stopped = true;
  await_no_heartbeat(agent);
  agent.state = stopped.state;
  if (!agent.killed) {
    agent.deadline = deadline_after(now_, policy_.exit_grace);
    agent.awaited = Awaited::exit;
  }
  log(LogLevel::info, "{} confirmed its clean stop"_with(agent));
}

void Step::note_status(const Agent& agent, const agent_protocol::Status& status) {
  notice(agent.generation, NoticeKind::status, "{}: {}"_with(agent, status.text));
}

}  // namespace upgrader
