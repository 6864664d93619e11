// Tests the supervisor's decisions about events at odd moments: outcomes of orders that were never
// given, deadlines that have not passed, and events of agents that have been killed already. No
// such event may change the state wrongly.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "tests/decisions/unit/processes.h"
#include "tests/support/bench.h"
#include "tests/support/print.h"

namespace supervisor_corners_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;

using Types = std::vector<std::string>;
using Generations = std::vector<Generation>;

// Returns a supervisor that handles a request for an upgrade: it has ordered the check of the
// program, and waits for the outcome.
Supervisor checking() {
  Bench bench;
  bench.reach(Phase::running);
  Supervisor supervisor = bench.supervisor();
  (void)supervisor.step(MessageReceived{1, agent_protocol::Upgrade{.id = "u1"}, false},
                        bench.now());
  return supervisor;
}

}  // namespace

TEST_CASE("an outcome that nobody has asked for changes nothing") {
  Bench bench;
  bench.reach(GENERATE(Phase::running, Phase::preparing, Phase::trial));

  for (const Outcome& outcome : {Outcome{.program = 7}, Outcome{.refused = Refusal{}}}) {
    Supervisor supervisor = bench.supervisor();
    CHECK(supervisor.step(outcome, bench.now()).empty());
    CHECK(supervisor.state() == bench.state());
  }
}

TEST_CASE("any other event than the outcome that is awaited breaks a rule") {
  CHECK(aborts([] { (void)checking().step(StopRequested{}, Time{1}); }));
  CHECK(aborts([] { (void)checking().step(DeadlinePassed{}, Time{1}); }));
  CHECK_FALSE(aborts([] { (void)checking().step(Outcome{.refused = Refusal{}}, Time{1}); }));
}

TEST_CASE("all programs that an agent runs, or may come to run, are needed") {
  Bench bench;
  bench.reach(Phase::preparing);

  CHECK(checking().programs() == std::vector<ProgramId>{1, 1});
  CHECK(bench.supervisor().programs() == std::vector<ProgramId>{1, 2, 1, 2});
}

TEST_CASE("a second start, and one after the end was asked for, start nothing") {
  Bench bench;
  bench.start();
  CHECK(bench.take(StartRequested{9, std::nullopt}).empty());
  CHECK(bench.take(StartRefused{}).empty());

  Bench stopped;
  stopped.take(StopRequested{});
  CHECK(stopped.exit_status() == 0);
  CHECK(stopped.take(StartRequested{9, std::nullopt}).empty());
}

TEST_CASE("a look at deadlines of which none is due changes nothing") {
  Bench bench;
  bench.reach(GENERATE(Phase::starting, Phase::running, Phase::preparing, Phase::replacing));
  const State before = bench.state();

  CHECK(bench.take(DeadlinePassed{Time{0}}).empty());

  CHECK(bench.state() == before);
}

TEST_CASE("an agent that closed its input before it was ready fails all the same") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.hello(2);
  bench.take(InputClosed{2});

  const Actions ready = bench.say(2, agent_protocol::Ready{});
  const Actions closed = bench.wait(close_grace);

  CHECK(messages_to(ready, 1).empty());
  CHECK(kills(closed) == Generations{2});
}

TEST_CASE("a candidate's end is no news for an active agent that was killed as late") {
  Bench bench;
  bench.reach(Phase::switching);
  REQUIRE(kills(bench.wait(std::chrono::seconds(90))) == Generations{1});

  const Actions actions = bench.exit(2, 3);

  CHECK(messages_to(actions, 1).empty());
  CHECK(spawns(bench.die(1, SIGKILL)) == Generations{3});
}

TEST_CASE("a candidate that fails twice is news once") {
  Bench bench;
  bench.reach(Phase::switching);

  const Actions unfit = bench.say(2, agent_protocol::Unfit{"no disk"});
  const Actions gone = bench.die(2, SIGKILL);

  CHECK(messages_to(unfit, 1) == Types{"candidate_lost"});
  CHECK(messages_to(gone, 1).empty());
}

TEST_CASE("an active agent that was killed as late is told nothing of a shutdown") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.wait(std::chrono::seconds(90));

  const Actions actions = bench.take(StopRequested{});

  CHECK(messages_to(actions, 1).empty());
  CHECK(kills(actions) == Generations{2});
  bench.die(2, SIGKILL);
  bench.die(1, SIGKILL);
  CHECK(bench.exit_status() == 128 + SIGKILL);
}

TEST_CASE("an agent that fails again while it is rolled back is not stopped again") {
  Bench bench;
  bench.reach(Phase::trial);
  bench.say(2, agent_protocol::Unfit{"no disk"});
  REQUIRE(bench.phase() == Phase::rolling_back);

  bench.say(2, agent_protocol::Unfit{"no disk, again"});
  bench.take(InputClosed{2});
  bench.wait(close_grace);

  CHECK(bench.phase() == Phase::rolling_back);
  CHECK(spawns(bench.exit(2)) == Generations{3});
}

TEST_CASE("SIGQUIT after SIGTERM kills who is left, and drops no upgrade again") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.take(StopRequested{});

  const Actions actions = bench.take(QuitRequested{});

  CHECK(kills(actions) == Generations{1});
  CHECK(log_of(actions) == "told to quit at once\n");
}

TEST_CASE("what an agent has left, and why an upgrade failed, are part of the printed state") {
  Bench bench;
  bench.reach(Phase::falling_back);
  Bench other;
  other.reach(Phase::running);

  CHECK(print(bench.supervisor()).find("left_behind{ ") != std::string::npos);
  CHECK(print(bench.supervisor()).find("failure{ ") != std::string::npos);
  CHECK(print(other.supervisor()).find("left_behind{ ") == std::string::npos);
}

TEST_CASE("supervisors that differ print differently, whatever texts the agents chose") {
  Bench bench;
  bench.start();
  bench.hello(1, "1");
  const State held = bench.state();
  const auto print_with = [&](const std::string& version, bool ready) {
    State state = held;
    state.incumbent->version = version;
    state.incumbent->ready = ready;
    return print(Supervisor(Bench::default_policy(), state));
  };

  std::set<std::string> prints;
  std::size_t count = 0;
  for (const char* const version : {"1", "1 ready", "1\" ready ", "1\\\" ready ", "1\\", "1\\\\"}) {
    prints.insert(print_with(version, false));
    prints.insert(print_with(version, true));
    count += 2;
  }

  CHECK(prints.size() == count);
  CHECK(print_with("1", false) == print(Supervisor(Bench::default_policy(), held)));
}

TEST_CASE("SIGTERM twice, and SIGQUIT at any time") {
  Bench bench;
  bench.reach(GENERATE(Phase::starting, Phase::running, Phase::preparing, Phase::switching,
                       Phase::trial, Phase::falling_back));
  bench.take(StopRequested{});

  CHECK(bench.take(StopRequested{}).empty());
  bench.take(QuitRequested{});
  const auto incumbent = bench.state().incumbent;
  const auto candidate = bench.state().candidate;
  if (candidate) bench.die(candidate->generation, SIGKILL);
  if (incumbent) bench.die(incumbent->generation, SIGKILL);

  CHECK(bench.exit_status() == exit_quit);
  CHECK(bench.violations().empty());
}

TEST_CASE("an agent that was told to stop is busy, whoever asks") {
  Bench bench;
  bench.reach(Phase::switching);

  const auto told = message_to<agent_protocol::UpgradeFailed>(bench.upgrade("u2"), 1);

  REQUIRE(told);
  CHECK_THAT(told->failure.reason, Catch::StartsWith("busy"));
  CHECK_THAT(log_of(bench.take(UpgradeRequested{})), Catch::Contains("sigusr2-1 refused: busy"));
}

TEST_CASE(
    "an agent that never says that it works takes an operator's upgrade, and its link, back") {
  Policy policy = Bench::default_policy();
  policy.relink = true;
  Bench bench(policy);
  bench.start();
  agent_protocol::Hello hello;
  hello.features = {std::string(agent_protocol::readiness_feature)};
  bench.say(1, hello);
  bench.say(1, agent_protocol::Ready{});
  bench.wait(Duration(1'000));
  bench.take(UpgradeRequested{});
  REQUIRE(bench.candidate() == 2);

  const Actions ended = bench.wait(policy.defaults.start_timeout - Duration(1'000));

  CHECK(restores(ended) == 1);
  CHECK_THAT(log_of(ended), Catch::Contains("generation 1 failed: did not say healthy within"));
}

TEST_CASE("SIGQUIT while the upgrader ends by itself tells the other status only if it differs") {
  const int status = GENERATE(131, 3);
  Bench bench;
  bench.reach(Phase::preparing);
  bench.exit(1, status);
  bench.take(QuitRequested{});

  const std::string told = log_of(bench.die(2, 9));

  CHECK(bench.exit_status() == 131);
  const bool tells_other = told.find("told to quit before that") != std::string::npos;
  CHECK(tells_other == (status == 3));
  CHECK_THAT(told, Catch::Contains("the upgrader ends with status 131"));
}

TEST_CASE("what has not lasted is started all the same where there is nothing to go back to") {
  Bench bench;

  CHECK(spawns(bench.take(StartRequested{1, "it did not last"})) == Generations{1});
  CHECK(bench.state().incumbent->role == agent_protocol::Role::first);
}

TEST_CASE(
    "without a trial's time an agent has lasted, and a way back is right, once it is active") {
  Policy policy = Bench::default_policy();
  policy.previous = policy.attempts = true;
  policy.defaults.trial = Duration::zero();
  const auto forgets = [](const Actions& actions) {
    return std::any_of(actions.begin(), actions.end(), [](const Action& action) {
      return std::holds_alternative<ForgetAttempts>(action);
    });
  };
  Bench first(policy), fallback(policy);
  first.start();
  fallback.start();
  fallback.exit(1, 3);

  CHECK(forgets(first.ready(1)));
  const Actions committed = fallback.ready(2);
  CHECK_FALSE(forgets(committed));
  CHECK(messages_to(committed, 2) == Types{"welcome", "activate", "committed"});
  CHECK(fallback.phase() == Phase::running);
}

TEST_CASE("a standby that has closed a pipe does not get the work, and fails for that") {
  Bench bench;
  REQUIRE(spawns(bench.reach_warm_trial()) == Generations{3});
  bench.ready(3);
  bench.take(OutputClosed{3});

  CHECK(messages_to(bench.exit(2, 3), 3).empty());
  CHECK(bench.phase() == Phase::falling_back);
  CHECK(kills(bench.wait(close_grace)) == Generations{3});
}

TEST_CASE("a standby that goes while the agent on trial is rolled back changes nothing") {
  Bench bench;
  bench.reach_warm_trial();
  bench.hello(3);
  bench.say(3, agent_protocol::Unfit{"no disk"});
  bench.say(2, agent_protocol::Unfit{"no disk"});
  REQUIRE(bench.phase() == Phase::rolling_back);

  CHECK(messages_to(bench.die(3, SIGKILL), 2).empty());

  CHECK(bench.phase() == Phase::rolling_back);
  CHECK(spawns(bench.exit(2)) == Generations{4});
}

TEST_CASE("a standby that was killed as it failed is not killed again at the commit") {
  Bench bench;
  bench.reach_warm_trial();
  bench.hello(3);
  REQUIRE(kills(bench.say(3, agent_protocol::Unfit{"no disk"})) == Generations{3});

  const Actions committed = bench.wait(std::chrono::seconds(30));

  CHECK(messages_to(committed, 2) == Types{"committed"});
  CHECK(kills(committed).empty());
}

TEST_CASE("an agent that was told to stop may still say that it needs time, and that it works") {
  Bench bench;
  bench.start();
  bench.say(1, agent_protocol::Hello{.version = std::nullopt, .features = {"readiness"}});
  bench.say(1, agent_protocol::Ready{});
  bench.take(StopRequested{});

  bench.say(1, agent_protocol::Extend{600'000});
  CHECK(bench.state().incumbent->deadline == bench.now() + std::chrono::minutes(10));
  CHECK(messages_to(bench.say(1, agent_protocol::Healthy{}), 1).empty());
  CHECK(bench.state().incumbent->deadline == bench.now() + std::chrono::minutes(10));
}

TEST_CASE("an operator may cancel an upgrade that waits at the gate") {
  Bench bench;
  bench.reach(Phase::confirming);
  ControlRequest request;
  request.deed = Deed::cancel;
  request.name = "r1";
  request.upgrade.id = "u1";

  CHECK(kills(bench.take(ControlRequested{request})) == Generations{2});
  CHECK(bench.phase() == Phase::abandoning);
}

}  // namespace supervisor_corners_test
