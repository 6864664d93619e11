#include "upgrader/core/step.h"

#include <algorithm>
#include <utility>

#include "upgrader/core/supervisor.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::AgentMessage;
using agent_protocol::fit_text;
using agent_protocol::StopReason;
using agent_protocol::UpgraderMessage;

namespace {

// In the order of the reasons.
constexpr const char* stop_clauses[] = {"its candidate takes over", "it is rolled back",
                                        "the upgrader shuts down"};

}  // namespace

Agent* Step::find(Generation generation) {
  if (state_.incumbent && state_.incumbent->generation == generation) return &*state_.incumbent;
  if (state_.candidate && state_.candidate->generation == generation) return &*state_.candidate;
  return nullptr;
}

bool Step::belongs_to_upgrade(const Agent& agent) const {
  return state_.upgrade && state_.upgrade->generation == agent.generation;
}

Duration Step::time_left(const Agent& agent) const {
  return std::max(Duration{1}, *agent.deadline - now_);
}

// From now on the agent is waited for, for `allowed` at most; 0: for as long as it takes.
void Step::await(Agent& agent, Awaited what, Duration allowed) const {
  agent.awaited = what;
  agent.deadline = deadline_after(now_, allowed);
  agent.allowed = allowed;
  agent.extended = Duration{0};
}

void Step::tell_stop(Agent& agent, StopReason reason, Duration timeout) {
  agent_protocol::Stop stop;
  stop.reason = reason;
  stop.deadline_ms = timeout.count();
  if (reason == StopReason::upgrade) {
    stop.id = state_.upgrade->id;
    stop.generation = state_.upgrade->generation;
  }
  const bool again = agent.told.has_value();  // then that goes on for as long as it was to last
  agent.told = reason;
  agent.told_id = stop.id;
  if (reason == StopReason::rollback) await_no_heartbeat(agent);
  agent.deadline = now_ + timeout;
  agent.awaited = Awaited::stopped;
  if (!again) {
    agent.allowed = timeout;
    agent.extended = Duration{0};
  }
  log(LogLevel::info,
      "{} is told to stop: {}"_with(agent, stop_clauses[static_cast<std::size_t>(reason)]));
  send(agent, std::move(stop));
}

void Step::kill(Agent& agent) {
  // Not a byte more of it: the agent that comes next gets what was left.
  if (agent.activate_waits) actions_.emplace_back(CloseInput{agent.generation});
  agent.killed = true;
  agent.activate_waits = false;
  agent.hello_deadline.reset();
  agent.heartbeat_deadline.reset();
  agent.close_deadline.reset();
  agent.deadline = now_ + killed_log_interval;
  agent.awaited = Awaited::log_line;
  actions_.emplace_back(Kill{agent.generation});
}

void Step::send(const Agent& agent, UpgraderMessage message) {
  actions_.emplace_back(Send{agent.generation, std::move(message)});
}

void Step::refuse_message(const Agent& agent, const AgentMessage& message,
                          std::string_view reason) {
  send_error(agent, agent_protocol::type_name(message), reason);
}

void Step::send_error(const Agent& agent, std::string_view about, std::string_view reason) {
  agent_protocol::Error error;
  error.about = fit_text(about, agent_protocol::about_bytes_max);
  error.reason = fit_text(reason, agent_protocol::reason_bytes_max);
  notice(agent.generation, NoticeKind::error,
         "{} sent {}, which was not obeyed: {}"_with(agent, *error.about, error.reason));
  send(agent, std::move(error));
}

void Step::notice(Generation generation, NoticeKind kind, std::string text) {
  actions_.emplace_back(Notice{generation, kind, std::move(text)});
}

void Step::log(LogLevel level, std::string text) {
  actions_.emplace_back(Log{level, std::move(text)});
}

void Step::order(Pending outcome, Action action) {
  state_.pending = outcome;
  actions_.push_back(std::move(action));
}

// True if this outcome is awaited; it is not any longer. Any other outcome is dropped.
bool Step::expect(Pending outcome) {
  if (state_.pending != outcome) return false;
  state_.pending = Pending::nothing;
  return true;
}

}  // namespace upgrader
