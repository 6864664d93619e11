#include "tests/decisions/explore/vouching.h"

#include "upgrader/core/init_news.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// Returns whether the agent must send heartbeats. It must if it is active, has not stopped, and is
// neither killed nor rolled back.
bool is_watched(const std::optional<Agent>& agent) {
  return agent && agent->activated && !agent->stopped && !agent->killed &&
         agent->told != StopReason::rollback;
}

bool is_watched_after(const State& before, const Supervisor& after) {
  const std::optional<Agent>& now = after.state().incumbent;
  return is_watched(now) && before.incumbent && before.incumbent->generation == now->generation;
}

// Returns whether the event is a message of this type, sent by this agent while it lived.
template <class Message>
bool says(const Event& event, const Agent& agent) {
  const auto* received = std::get_if<MessageReceived>(&event);
  return received != nullptr && received->generation == agent.generation &&
         std::holds_alternative<Message>(received->message);
}

bool has_passed_unheard(const State& before, const Due& due, const Event& event) {
  const auto* passed = std::get_if<DeadlinePassed>(&event);
  return due.what == Due::What::heartbeat && passed != nullptr && passed->by >= Time(0) &&
         is_watched(before.incumbent);
}

}  // namespace

// Checks whether init is sent READY=1 at the right time. If the agent has the feature `readiness`,
// READY=1 must wait for the agent's `healthy`.
void judge_readiness(const State& before, bool was_ready, const Event& event, const State& after,
                     bool ready, std::vector<std::string>& broken) {
  if (!ready) {
    const bool same = before.incumbent && after.incumbent &&
                      before.incumbent->generation == after.incumbent->generation;
    if (was_ready && same) broken.emplace_back("Readiness: it is taken back");
    return;
  }
  const Agent& agent = *after.incumbent;
  if (!agent.activated) broken.emplace_back("Readiness: of an agent that is held");
  const bool word_is_due = agent.has_readiness && agent.role != Role::candidate;
  if (!was_ready && word_is_due && !says<Healthy>(event, agent)) {
    broken.emplace_back("Readiness: init is told before the agent has said that it works");
  }
  if (word_is_due && agent.deadline && !agent.told && !agent.killed) {
    broken.emplace_back("Readiness: an agent that has said that it works is waited for");
  }
}

std::vector<std::string> broken_vouching(const Policy& policy, const State& before, const Due& due,
                                         const Event& event, const Supervisor& after) {
  std::vector<std::string> broken;
  const State& state = after.state();
  const InitNews news_before = init_news(before);
  const InitNews news = init_news(state);
  judge_readiness(before, news_before.active, event, state, news.active, broken);
  const bool was_vouched = news_before.vouched;
  const bool vouched = news.vouched;
  const bool missed = has_passed_unheard(before, due, event);
  const bool on_trial = phase_of(before) == Phase::trial;

  if (missed && on_trial && after.phase() != Phase::rolling_back) {
    broken.emplace_back("Heartbeats: silence on trial does not roll back");
  }
  if (missed && !on_trial && vouched) {
    broken.emplace_back("Heartbeats: an agent that has fallen silent is vouched for");
  }
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent || is_watched(*agent) || !(*agent)->heartbeat_deadline) continue;
    broken.emplace_back("Heartbeats: of one that is held, has stopped or is given up");
  }
  if (is_watched(state.incumbent)) {
    const bool awaited = state.incumbent->heartbeat_deadline.has_value();
    if (awaited && policy.watchdog == Duration::zero()) broken.emplace_back("Heartbeats: unasked");
    if (!awaited && vouched && policy.watchdog != Duration::zero()) {
      broken.emplace_back("Heartbeats: an active agent that nobody waits for is vouched for");
    }
  }
  if (was_vouched && !vouched && !missed) {
    broken.emplace_back("Heartbeats: no longer vouched for, though nothing was missed");
  }
  if (!was_vouched && vouched && is_watched_after(before, after) &&
      !says<Heartbeat>(event, *before.incumbent)) {
    broken.emplace_back("Heartbeats: a silent agent is vouched for again");
  }
  return broken;
}

}  // namespace upgrader::test
