// Tests the supervisor's decisions about heartbeats: which agents must send heartbeats, when a
// heartbeat counts as missed, and how the supervisor reacts to a missed heartbeat. All
// sequences of events are explored in tests/decisions/explore.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/decisions/unit/processes.h"
#include "tests/support/bench.h"
#include "tests/support/print.h"
#include "upgrader/core/init_news.h"

namespace heartbeat_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

using Types = std::vector<std::string>;

constexpr Duration watchdog{20'000};

Policy watched() {
  Policy policy = Bench::default_policy();
  policy.watchdog = watchdog;
  policy.defaults.trial = std::chrono::minutes(5);
  return policy;
}

Actions beat(Bench& bench) {
  return bench.say(bench.active(), agent_protocol::Heartbeat{});
}

bool vouched(const Bench& bench) {
  return init_news(bench.state()).vouched;
}

bool is_awaited(const std::optional<Agent>& agent) {
  return agent && agent->heartbeat_deadline;
}

}  // namespace

TEST_CASE("every agent is asked for heartbeats, and none without a watchdog") {
  const bool asked = GENERATE(true, false);
  Bench bench(asked ? watched() : Bench::default_policy());
  const std::optional<std::int64_t> wanted =
      asked ? std::optional<std::int64_t>(20'000) : std::nullopt;
  const auto welcomed = [&](Generation generation) {
    const auto welcome = message_to<agent_protocol::Welcome>(bench.hello(generation), generation);
    REQUIRE(welcome);
    return welcome->watchdog_ms;
  };
  bench.start();
  CHECK(welcomed(1) == wanted);
  bench.say(1, agent_protocol::Ready{});
  bench.upgrade();
  CHECK(welcomed(2) == wanted);
  bench.say(2, agent_protocol::Ready{});
  bench.stopped(1);
  bench.exit(1);
  bench.die(2, 11);

  CHECK(welcomed(3) == wanted);

  CHECK(bench.violations().empty());
}

TEST_CASE("an active agent is silent when the watchdog's time has passed, and not before") {
  Bench bench(watched());
  bench.reach(Phase::running);
  bench.wait(watchdog - 1ms);
  CHECK(vouched(bench));

  const Actions actions = bench.wait(1ms);

  CHECK_FALSE(vouched(bench));
  CHECK(summary(actions).empty());
  CHECK(log_of(actions) == "generation 1 is silent: no heartbeat within 20s\n");
  CHECK(bench.phase() == Phase::running);
  CHECK_FALSE(bench.supervisor().next_deadline());
}

TEST_CASE("each heartbeat counts from when it comes, and ends a silence") {
  Bench bench(watched());
  bench.reach(Phase::running);
  bench.wait(5s);

  CHECK(beat(bench).empty());
  CHECK(bench.supervisor().next_deadline() == bench.now() + watchdog);
  bench.wait(watchdog);
  CHECK_FALSE(vouched(bench));
  CHECK(log_of(beat(bench)) == "generation 1 sends heartbeats again\n");

  CHECK(vouched(bench));
  CHECK(bench.supervisor().next_deadline() == bench.now() + watchdog);
}

TEST_CASE("without a watchdog an agent may be silent for ever, and may beat") {
  Bench bench;
  bench.reach(Phase::running);

  CHECK(bench.wait(std::chrono::hours(24)).empty());
  CHECK(beat(bench).empty());

  CHECK(vouched(bench));
  CHECK_FALSE(bench.supervisor().next_deadline());
}

TEST_CASE("silence on trial rolls back at once, as a failure of the trial") {
  Bench bench(watched());
  bench.reach(Phase::trial);
  bench.wait(watchdog - 1ms);
  CHECK(bench.phase() == Phase::trial);

  const Actions actions = bench.wait(1ms);

  CHECK(bench.phase() == Phase::rolling_back);
  CHECK(messages_to(actions, 2) == Types{"stop"});
  const auto& failure = bench.state().upgrade->failure;
  REQUIRE(failure);
  CHECK(failure->stage == agent_protocol::Stage::trial);
  CHECK(failure->reason == "no heartbeat within 20s");
}

TEST_CASE("while an agent is rolled back the upgrader vouches for itself") {
  Bench bench(watched());
  bench.reach(Phase::trial);
  bench.wait(watchdog);
  REQUIRE(bench.phase() == Phase::rolling_back);

  CHECK(vouched(bench));
  CHECK_FALSE(is_awaited(bench.state().incumbent));
  CHECK(beat(bench).empty());
  CHECK_FALSE(is_awaited(bench.state().incumbent));
  bench.wait(watchdog + 1s);

  CHECK(vouched(bench));
  CHECK(bench.phase() == Phase::rolling_back);
}

TEST_CASE("heartbeats on trial keep the trial going to its commit") {
  Bench bench(watched());
  bench.reach(Phase::trial);
  for (int i = 0; i < 15; ++i) {
    beat(bench);
    bench.wait(19'990ms);
  }
  CHECK(bench.phase() == Phase::trial);
  beat(bench);

  CHECK(messages_to(bench.wait(1s), 2) == Types{"committed"});

  bench.wait(watchdog);
  CHECK_FALSE(vouched(bench));
  CHECK(bench.phase() == Phase::running);
}

TEST_CASE("if silence and the end of the trial come at one instant, silence is judged first") {
  Policy policy = watched();
  policy.defaults.trial = watchdog;
  Bench bench(policy);
  bench.reach(Phase::trial);

  bench.wait(watchdog);

  CHECK(bench.phase() == Phase::rolling_back);
}

TEST_CASE("heartbeats are asked of the active agent alone, from activate until it has stopped") {
  Bench bench(watched());
  bench.start();
  CHECK_FALSE(is_awaited(bench.state().incumbent));
  bench.ready(1);
  CHECK(is_awaited(bench.state().incumbent));
  bench.upgrade();
  bench.ready(2);
  CHECK(is_awaited(bench.state().incumbent));
  CHECK_FALSE(is_awaited(bench.state().candidate));

  bench.stopped(1);
  CHECK_FALSE(is_awaited(bench.state().incumbent));
  CHECK(beat(bench).empty());
  CHECK_FALSE(is_awaited(bench.state().incumbent));
  bench.exit(1);
  CHECK(is_awaited(bench.state().incumbent));
}

TEST_CASE("an agent that falls silent while it stops is no longer vouched for until it has") {
  Bench bench(watched());
  bench.reach(GENERATE(Phase::switching, Phase::shutting_down));

  bench.wait(watchdog);
  CHECK_FALSE(vouched(bench));
  const Types said = messages_to(bench.stopped(1), 1);

  CHECK(said.empty());
  CHECK(vouched(bench));
}

// Requirements (tests/judging/rows): H-28
TEST_CASE("heartbeats count while an agent stops, and end a silence of then") {
  Bench bench(watched());
  bench.reach(GENERATE(Phase::switching, Phase::shutting_down));
  bench.wait(15s);
  beat(bench);
  bench.wait(watchdog - 1ms);
  CHECK(vouched(bench));
  bench.wait(1ms);
  CHECK_FALSE(vouched(bench));

  beat(bench);

  CHECK(vouched(bench));
  CHECK(is_awaited(bench.state().incumbent));
}

TEST_CASE(
    "one deadline is judged in a step: between silence and the stop's the agent is looked at") {
  Policy policy = watched();
  policy.defaults.stop_timeout = watchdog;
  Bench bench(policy);
  bench.reach(Phase::switching);
  Supervisor supervisor = bench.supervisor();
  const Time then = bench.now() + watchdog;

  const Actions first = supervisor.step(DeadlinePassed{}, then);
  const Actions second = supervisor.step(DeadlinePassed{}, then);

  CHECK(log_of(first) == "generation 1 is silent: no heartbeat within 20s\n");
  CHECK(kills(first).empty());
  CHECK(kills(second) == std::vector<Generation>{1});
}

TEST_CASE("if silence and the gate's end come at one instant, each is judged in its own step") {
  Bench bench(watched());
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{
      .id = "u1", .gate = agent_protocol::Gate::confirm, .confirm_timeout_ms = watchdog.count()});
  bench.ready(2);
  Supervisor supervisor = bench.supervisor();
  const Time then = bench.now() + watchdog;

  CHECK(kills(supervisor.step(DeadlinePassed{}, then)).empty());
  CHECK(supervisor.phase() == Phase::confirming);
  CHECK(kills(supervisor.step(DeadlinePassed{}, then)) == std::vector<Generation>{2});
}

TEST_CASE("a silent agent that is killed stays silent, and is not waited for any more") {
  Bench bench(watched());
  bench.reach(Phase::switching);
  bench.wait(watchdog);

  CHECK(kills(bench.wait(70s)) == std::vector<Generation>{1});

  CHECK_FALSE(vouched(bench));
  bench.die(1, 9);
  CHECK(vouched(bench));
}

TEST_CASE("one that beats to the end and is killed then is not waited for any more") {
  Bench bench(watched());
  bench.reach(Phase::switching);
  for (int i = 0; i < 10; ++i) {
    beat(bench);
    bench.wait(9s);
  }
  REQUIRE(bench.state().incumbent->killed);

  CHECK_FALSE(is_awaited(bench.state().incumbent));
}

TEST_CASE("a stop that was taken back leaves the heartbeats as they were") {
  Bench bench(watched());
  bench.reach(Phase::switching);
  bench.wait(5s);

  bench.say(1, agent_protocol::Cancel{"u1", std::nullopt});

  REQUIRE(bench.state().incumbent->heartbeat_deadline);
  CHECK(*bench.state().incumbent->heartbeat_deadline == bench.now() + watchdog - 5s);
}

TEST_CASE("on trial, silence after SIGTERM fails nothing: the upgrade is over") {
  Bench bench(watched());
  bench.reach(Phase::trial);
  bench.take(StopRequested{});

  CHECK(messages_to(bench.wait(watchdog), 2).empty());

  CHECK(bench.phase() == Phase::shutting_down);
  CHECK_FALSE(vouched(bench));
}

TEST_CASE("the fallback's heartbeats count from its own activation") {
  Bench bench(watched());
  bench.reach(Phase::falling_back);
  bench.wait(60s);
  CHECK(vouched(bench));

  bench.ready(3);
  bench.wait(watchdog - 1ms);
  CHECK(vouched(bench));
  bench.wait(1ms);

  CHECK_FALSE(vouched(bench));
}

TEST_CASE("an agent whose heartbeat is due is looked at before that is judged") {
  Bench bench(watched());
  bench.reach(Phase::running);
  const Time due = bench.now() + watchdog;

  CHECK(bench.supervisor().late(due - 1ms).empty());
  CHECK(bench.supervisor().late(due) == std::vector<Generation>{1});
  // The clock is five seconds past the heartbeat's deadline, but the agent's messages have been
  // read only up to a millisecond before the deadline. The heartbeat may be among the unread
  // messages, so it must not count as missed yet.
  Supervisor supervisor = bench.supervisor();
  CHECK(supervisor.step(DeadlinePassed{due - 1ms}, due + 5s).empty());
  CHECK(supervisor == bench.supervisor());
}

TEST_CASE("heartbeats are facts: they are printed, and supervisors differ by them") {
  Bench bench(watched());
  bench.reach(Phase::running);
  const Supervisor before = bench.supervisor();
  CHECK(print(before).find("watchdog=20000 ") != std::string::npos);
  CHECK(print(before).find("heartbeat_deadline=1020000 ") != std::string::npos);

  bench.wait(watchdog);

  CHECK(print(bench.supervisor()).find("silent ") != std::string::npos);
  CHECK_FALSE(bench.supervisor() == before);
}

TEST_CASE("heartbeats of an agent that is not watched break a rule") {
  const auto step = [](const std::function<void(State&)>& spoil) {
    Bench bench(watched());
    bench.reach(Phase::switching);
    State state = bench.state();
    spoil(state);
    Supervisor supervisor(watched(), state);
    return aborts([&] { (void)supervisor.step(SignalReceived{1}, bench.now()); });
  };

  CHECK_FALSE(step([](State&) {}));
  CHECK(step([](State& state) { state.candidate->heartbeat_deadline = Time{5'000'000}; }));
  CHECK(step([](State& state) { state.candidate->silent = true; }));
  CHECK(step([](State& state) { state.incumbent->stopped = true; }));
  CHECK(step([](State& state) { state.incumbent->killed = true; }));
  CHECK(step([](State& state) { state.incumbent->silent = true; }));
  CHECK(step([](State& state) {
    state.incumbent->heartbeat_deadline.reset();
    state.incumbent->silent = state.incumbent->stopped = true;
  }));
}

}  // namespace heartbeat_test
