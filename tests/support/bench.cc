#include "tests/support/bench.h"

#include <catch2/catch.hpp>

#include "base/errno_name.h"
#include "upgrader/core/invariants.h"

namespace upgrader::test {

using agent_protocol::AgentMessage;

namespace {

int errno_named(const std::string& name) {
  for (int error = 1; error < 200; ++error) {
    if (errno_name(error) == name) return error;
  }
  FAIL("no errno is called " << name);
  return 0;
}

}  // namespace

std::vector<Phase> every_phase() {
  std::vector<Phase> phases;
  for (int phase = 0; phase <= static_cast<int>(Phase::ended); ++phase)
    phases.push_back(static_cast<Phase>(phase));
  return phases;
}

Policy Bench::default_policy() {
  Policy policy;
  policy.defaults.start_timeout = std::chrono::minutes(5);
  policy.defaults.stop_timeout = std::chrono::seconds(90);
  policy.defaults.trial = std::chrono::seconds(30);
  policy.exit_grace = std::chrono::seconds(10);
  return policy;
}

Bench::Bench(Policy policy) : supervisor_(policy), watcher_(policy.exit_grace) {}

Event Bench::outcome_of(const Action& action) {
  const auto answer = [](std::string& failure) -> Outcome {
    if (failure.empty()) return {};
    return {.refused = Refusal{"the test wants it so", errno_named(std::exchange(failure, ""))}};
  };
  switch (pending_on(action)) {
    case Pending::check: {
      Outcome outcome = answer(check_failure_);
      if (outcome.refused) return outcome;
      outcome.program = next_program_++;
      outcome.way_back = !std::exchange(no_way_back_, false);
      return outcome;
    }
    case Pending::spawn: {
      if (spawn_failures_.empty()) return Outcome{};
      std::string failure = std::move(spawn_failures_.front());
      spawn_failures_.pop_front();
      const bool not_executable = failure != "EAGAIN";
      Outcome outcome = answer(failure);
      outcome.not_executable = not_executable;
      return outcome;
    }
    case Pending::activate:
      return Outcome{.sent = std::exchange(activate_, Sent::written)};
    case Pending::way_back:
      if (std::exchange(no_way_back_at_boot_, false)) return Outcome{.refused = Refusal{}};
      return Outcome{.program = next_program_++};
    case Pending::link_back:
      return answer(link_back_failure_);
    case Pending::relink_proof:
      return answer(proof_failure_);
    case Pending::relink:
      return answer(relink_failure_);
    case Pending::nothing:
      break;
  }
  return Outcome{};
}

Actions Bench::step(const Event& event) {
  Actions actions = supervisor_.step(event, now_);
  watcher_.see(event, actions, now_);
  if (witness_) witness_(event, actions, supervisor_.state());
  return actions;
}

Actions Bench::take(const Event& event) {
  Actions all = step(event);
  while (supervisor_.state().pending != Pending::nothing) {
    const Actions more = step(outcome_of(all.back()));
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const Action& action : all) {
    if (const auto* end = std::get_if<Exit>(&action)) exit_status_ = end->status;
  }
  return all;
}

Actions Bench::wait(Duration duration) {
  const Time end = now_ + duration;
  Actions all;
  for (auto next = supervisor_.next_deadline(); next && *next <= end;
       next = supervisor_.next_deadline()) {
    now_ = std::max(now_, *next);
    const Actions more = take(DeadlinePassed{});
    all.insert(all.end(), more.begin(), more.end());
  }
  now_ = end;
  return all;
}

Actions Bench::freeze(Duration duration) {
  now_ += duration;
  return wait(Duration(0));
}

Actions Bench::start() {
  return take(StartRequested{1, std::nullopt});
}

Actions Bench::say(Generation generation, AgentMessage message) {
  return take(MessageReceived{generation, std::move(message), false});
}

Actions Bench::last_word(Generation generation, AgentMessage message) {
  return take(MessageReceived{generation, std::move(message), true});
}

Actions Bench::exit(Generation generation, int status) {
  return take(ProcessExited{generation, {Ending::How::exited, status}});
}

Actions Bench::die(Generation generation, int signal) {
  return take(ProcessExited{generation, {Ending::How::signalled, signal}});
}

Actions Bench::hello(Generation generation, const std::string& version) {
  agent_protocol::Hello hello;
  if (!version.empty()) hello.version = version;
  return say(generation, hello);
}

Actions Bench::ready(Generation generation) {
  Actions all = hello(generation);
  const Actions more = say(generation, agent_protocol::Ready{});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Actions Bench::stopped(Generation generation, std::optional<std::string> state) {
  return say(generation, agent_protocol::Stopped{std::move(state)});
}

Actions Bench::upgrade(const std::string& id) {
  agent_protocol::Upgrade request{.id = id, .executable = "/opt/agent-v2"};
  return upgrade(request);
}

Actions Bench::upgrade(agent_protocol::Upgrade request) {
  if (request.executable.empty()) request.executable = "/opt/agent-v2";
  return say(active(), std::move(request));
}

void Bench::reach(Phase phase) {
  agent_protocol::Upgrade request{.id = "u1"};
  start();
  if (phase == Phase::starting) return;
  ready(1);
  if (phase == Phase::running) return;
  if (phase == Phase::shutting_down || phase == Phase::ended) {
    take(StopRequested{});
    if (phase == Phase::ended) exit(1);
    return;
  }
  if (phase == Phase::confirming) request.gate = agent_protocol::Gate::confirm;
  if (phase == Phase::replacing) request.mode = agent_protocol::Mode::sequential;
  upgrade(request);
  if (phase == Phase::abandoning) say(2, agent_protocol::Hello{});
  if (phase == Phase::abandoning) say(2, agent_protocol::Unfit{"broken"});
  if (phase == Phase::preparing || phase == Phase::abandoning) return;
  if (phase != Phase::replacing) ready(2);
  if (phase == Phase::confirming || phase == Phase::switching) return;
  stopped(1, "state of 1");
  exit(1);
  if (phase == Phase::replacing || phase == Phase::trial) return;
  say(2, agent_protocol::Unfit{"broken"});
  if (phase == Phase::rolling_back) return;
  exit(2);
  REQUIRE(phase == Phase::falling_back);
}

Actions Bench::reach_warm_trial() {
  reach(Phase::running);
  upgrade(agent_protocol::Upgrade{.id = "u1", .fallback = agent_protocol::FallbackMode::warm});
  ready(2);
  stopped(1);
  return exit(1);
}

Generation Bench::active() const {
  const auto& incumbent = supervisor_.state().incumbent;
  return incumbent && incumbent->activated ? incumbent->generation : 0;
}

Generation Bench::candidate() const {
  const auto& candidate = supervisor_.state().candidate;
  return candidate ? candidate->generation : 0;
}

}  // namespace upgrader::test
