// Tests the supervisor's decisions about deadlines: which events end a deadline, which events move
// it, and which events must not change it.
#include <catch2/catch.hpp>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/support/bench.h"

namespace supervisor_times_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;
using agent_protocol::Cancel;
using agent_protocol::Extend;
using agent_protocol::FallbackMode;
using agent_protocol::Healthy;
using agent_protocol::Hello;
using agent_protocol::Ready;
using agent_protocol::Unfit;
using Generations = std::vector<Generation>;
using Types = std::vector<std::string>;

const Hello with_readiness{.version = std::nullopt, .features = {"readiness"}};

agent_protocol::Upgrade request_u1() {
  return {.id = "u1"};
}

agent_protocol::Upgrade gated() {
  agent_protocol::Upgrade request = request_u1();
  request.gate = agent_protocol::Gate::confirm;
  return request;
}

// Starts a first agent, which becomes active. The agent has the feature `readiness`, and has not
// said `healthy` yet.
void start_unproved(Bench& bench) {
  bench.start();
  bench.say(1, with_readiness);
  bench.say(1, Ready{});
}

}  // namespace

TEST_CASE("an agent that was killed is not failed by its closed pipes afterwards") {
  Bench closed_first, closed_last;
  closed_first.reach(Phase::preparing);
  closed_last.reach(Phase::preparing);

  closed_first.take(OutputClosed{2});
  closed_first.take(StopRequested{});
  closed_last.take(StopRequested{});
  closed_last.take(OutputClosed{2});

  CHECK(kills(closed_first.wait(1s)).empty());
  CHECK(kills(closed_last.wait(1s)).empty());
}

TEST_CASE("a silent first agent that was told to end has its time, although it closes its pipes") {
  Bench closed_first, closed_last;
  closed_first.start();
  closed_last.start();
  closed_first.take(OutputClosed{1});
  closed_first.take(StopRequested{});
  closed_last.take(StopRequested{});
  closed_last.take(OutputClosed{1});

  CHECK(kills(closed_first.wait(89s)).empty());
  CHECK(kills(closed_last.wait(89s)).empty());
  CHECK(kills(closed_first.wait(1s)) == Generations{1});
}

TEST_CASE("the second pipe that an agent closes gives it no more time") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.take(OutputClosed{2});
  bench.wait(150ms);
  bench.take(InputClosed{2});

  CHECK(kills(bench.wait(50ms)) == Generations{2});
}

TEST_CASE("an agent that closes its input before its activate is read has failed") {
  Bench bench;
  bench.start();
  bench.next_activate(Sent::waits);
  bench.ready(1);
  bench.take(InputClosed{1});

  CHECK(bench.active() == 0);
  CHECK(kills(bench.wait(200ms)) == Generations{1});
}

TEST_CASE("an agent late with its activate had only the time for that, whatever came before") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.hello(2);
  bench.say(2, Extend{600'000});
  bench.say(2, Ready{});
  bench.stopped(1);
  bench.next_activate(Sent::waits);
  bench.exit(1);

  const std::string log = log_of(bench.wait(31s));
  CHECK(log.find("did not read its activate within 30s;") != std::string::npos);
  CHECK(log.find("extended") == std::string::npos);
}

TEST_CASE("a fallback has as long to read its activate as the upgrade's stop may take") {
  Bench bench;
  bench.reach(Phase::running);
  agent_protocol::Upgrade request = request_u1();
  request.stop_timeout_ms = 7'000;
  bench.upgrade(request);
  bench.ready(2);
  bench.stopped(1);
  bench.exit(1);
  bench.die(2, 11);
  bench.next_activate(Sent::waits);
  bench.ready(3);

  CHECK(bench.state().incumbent->deadline == bench.now() + 7s);
}

TEST_CASE("a candidate with readiness has its trial, and no other time in which to work") {
  Bench bench;
  bench.reach(Phase::running);
  agent_protocol::Upgrade request = request_u1();
  request.start_timeout_ms = 1'000;
  bench.upgrade(request);
  bench.say(2, with_readiness);
  bench.say(2, Ready{});
  bench.stopped(1);
  bench.exit(1);
  bench.wait(30s);

  CHECK(bench.phase() == Phase::running);
  CHECK(bench.active() == 2);
}

TEST_CASE("a gate that has been opened has no time any more") {
  Bench bench;
  bench.reach(Phase::running);
  agent_protocol::Upgrade request = gated();
  request.confirm_timeout_ms = 10'000;
  bench.upgrade(request);
  bench.ready(2);
  bench.say(1, agent_protocol::Confirm{"u1"});
  bench.wait(20s);

  CHECK(bench.phase() == Phase::switching);
  CHECK(bench.violations().empty());
}

TEST_CASE("a gate that an agent asked for has the time that it says, or none") {
  Policy policy = Bench::default_policy();
  policy.defaults.confirm_timeout = 7s;
  Bench bench(policy);
  bench.reach(Phase::running);
  bench.upgrade(gated());
  bench.ready(2);

  CHECK_FALSE(bench.state().upgrade->deadline);
}

TEST_CASE("an agent that takes its work back has no stop's time any more, and keeps its own") {
  Bench told, unproved;
  told.reach(Phase::switching);
  told.say(1, Cancel{"u1", {}});
  CHECK(kills(told.wait(10min)).empty());
  CHECK(told.active() == 1);

  start_unproved(unproved);
  unproved.wait(1min);
  unproved.upgrade(request_u1());
  unproved.say(1, Cancel{"u1", {}});
  unproved.wait(4min);
  CHECK(unproved.state().incumbent->killed);
}

TEST_CASE("an agent that takes its work back before it worked has the start timeout again") {
  const std::optional<agent_protocol::Mode> mode =
      GENERATE(agent_protocol::Mode::parallel, agent_protocol::Mode::sequential);
  Bench bench;
  start_unproved(bench);
  agent_protocol::Upgrade request = request_u1();
  request.mode = mode;
  bench.upgrade(request);
  if (mode == agent_protocol::Mode::parallel) bench.ready(2);
  REQUIRE(bench.phase() == Phase::switching);

  bench.wait(1min);
  bench.say(1, Cancel{"u1", {}});

  CHECK(bench.state().incumbent->deadline == bench.now() + 5min);
  CHECK(bench.state().incumbent->allowed == 5min);
  bench.wait(5min);
  CHECK(bench.state().incumbent->killed);
  bench.exit(1);
  bench.exit(2);
  CHECK(bench.phase() == Phase::ended);
}

TEST_CASE("while an agent must still say healthy, an upgrade waits no longer than for that") {
  Bench bench;
  start_unproved(bench);
  const auto limit = bench.state().incumbent->deadline;
  REQUIRE(limit);
  bench.wait(1min);
  agent_protocol::Upgrade request = gated();
  request.start_timeout_ms = 3'600'000;
  request.confirm_timeout_ms = 3'600'000;

  bench.upgrade(request);
  CHECK(bench.phase() == Phase::preparing);
  CHECK(awaited_until(bench.state()) == limit);
  bench.ready(2);
  CHECK(bench.phase() == Phase::confirming);
  CHECK(awaited_until(bench.state()) == limit);
}

TEST_CASE("an agent that is told to stop before it worked is as late as any other") {
  Bench bench;
  start_unproved(bench);
  bench.take(StopRequested{});
  bench.say(1, Healthy{});

  CHECK(kills(bench.wait(90s)) == Generations{1});
}

TEST_CASE("more time for a start is no more time for a stop") {
  Bench bench;
  start_unproved(bench);
  bench.say(1, Extend{600'000});
  CHECK(bench.state().incumbent->extended == 5min);

  bench.take(StopRequested{});

  CHECK(bench.state().incumbent->extended == 0s);
  CHECK(bench.state().incumbent->allowed == 90s);
}

TEST_CASE("an agent that has stopped gets no more time, and its first word counts") {
  Bench bench;
  start_unproved(bench);
  bench.take(StopRequested{});
  bench.stopped(1, "first");
  const auto deadline = bench.state().incumbent->deadline;

  const Actions extended = bench.say(1, Extend{600'000});
  const Actions again = bench.stopped(1, "second");

  CHECK(messages_to(extended, 1) == Types{"error"});
  CHECK(messages_to(again, 1) == Types{"error"});
  CHECK(bench.state().incumbent->deadline == deadline);
  CHECK(bench.state().incumbent->state == "first");
}

TEST_CASE("without an exit grace an agent that has stopped may linger") {
  Policy policy = Bench::default_policy();
  policy.exit_grace = 0s;
  Bench bench(policy);
  bench.reach(Phase::shutting_down);
  bench.stopped(1);

  CHECK(kills(bench.wait(24h)).empty());
}

TEST_CASE("a stop that comes from an agent that was killed kills it no more") {
  Bench bench;
  bench.reach(Phase::shutting_down);
  CHECK(kills(bench.wait(90s)) == Generations{1});
  bench.stopped(1);

  CHECK(kills(bench.wait(1h)).empty());
}

TEST_CASE("deadlines that were put off are judged at their new time, each by itself") {
  Policy policy = Bench::default_policy();
  policy.watchdog = 10s;
  Bench bench(policy);
  bench.reach(Phase::preparing);

  const std::string log = log_of(bench.freeze(10min));

  CHECK(log.find("what was due has 10s more") != std::string::npos);
  CHECK(log.find("silent") == std::string::npos);
  CHECK(log.find("not ready") == std::string::npos);
  CHECK_FALSE(bench.state().put_off.empty());
  CHECK(log_of(bench.freeze(10min)).find("generation 1 is silent") != std::string::npos);
  CHECK(bench.phase() == Phase::abandoning);
}

TEST_CASE("a deadline that was put off is forgotten when nobody waits for it any more") {
  Policy policy = Bench::default_policy();
  policy.watchdog = 10s;
  Bench bench(policy);
  bench.reach(Phase::preparing);
  bench.freeze(10min);
  bench.wait(1s);
  bench.say(1, agent_protocol::Heartbeat{});
  bench.ready(2);
  bench.take(DeadlinePassed{});

  CHECK(bench.state().put_off.empty());
}

TEST_CASE("more than a second late is late") {
  Bench bench;
  bench.start();
  const Time due = *bench.state().incumbent->hello_deadline;

  CHECK(log_of(bench.freeze(due - bench.now() + 1'500ms)).find("deadlines come") == 0);
}

TEST_CASE("a silence that is told of and the end of a trial have a step each") {
  Bench bench;
  bench.reach(Phase::running);
  agent_protocol::Upgrade request = request_u1();
  request.fallback = FallbackMode::warm;
  request.trial_ms = 5'000;
  bench.upgrade(request);
  bench.ready(2);
  bench.stopped(1);
  bench.exit(1);
  int steps = 0;
  bench.have_watched([&](const auto&, const auto&, const auto&) { ++steps; });
  bench.wait(5s);

  CHECK(bench.phase() == Phase::abandoning);
  CHECK(steps == 2);
}

TEST_CASE("a standby that ends is told of, and the trial goes on") {
  Bench bench;
  bench.reach_warm_trial();

  const std::string log = log_of(bench.exit(3, 1));

  CHECK(log.find("standby generation 3 failed: exited with status 1 before it was ready") == 0);
  CHECK(bench.phase() == Phase::trial);
}

TEST_CASE("an activate that tells of a failure fits its line, whatever was left for it") {
  Bench bench;
  bench.reach_warm_trial();
  bench.ready(3);
  bench.say(2, Unfit{std::string(1'024, 'r')});
  bench.stopped(2, std::string(10'800, '\x01') + std::string(200, 'x'));

  const auto activate = message_to<agent_protocol::Activate>(bench.exit(2), 3);

  REQUIRE(activate);
  CHECK(agent_protocol::encode(*activate));
  CHECK(activate->failure->failure.reason.size() > 200);
}

}  // namespace supervisor_times_test
