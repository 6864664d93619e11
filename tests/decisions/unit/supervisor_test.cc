// Tests single decisions of the supervisor. The tests in tests/decisions/scenario are longer
// sequences of events, and those in tests/decisions/explore try all sequences.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/bench.h"

namespace supervisor_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;
using agent_protocol::Stage;
using agent_protocol::Unfit;
using Catch::Matchers::Contains;
using Types = std::vector<std::string>;
using Generations = std::vector<Generation>;

agent_protocol::Failure failure_told(const Actions& actions, Generation generation) {
  const auto told = message_to<agent_protocol::UpgradeFailed>(actions, generation);
  REQUIRE(told);
  return told->failure;
}

agent_protocol::Upgrade request(const std::string& id) {
  return {.id = id};
}

}  // namespace

TEST_CASE("a candidate that dies before the stop leaves the active agent untouched") {
  Bench bench;
  bench.reach(GENERATE(Phase::preparing, Phase::confirming));

  const Actions actions = bench.exit(bench.candidate(), 3);

  CHECK(bench.phase() == Phase::running);
  CHECK(messages_to(actions, bench.active()) == Types{"upgrade_failed"});
  CHECK(kills(actions).empty());
}

TEST_CASE("the failure names the stage, the reason and how the candidate ended") {
  Bench bench;
  bench.reach(Phase::preparing);

  const Actions actions = bench.exit(2, 3);

  const auto failure = failure_told(actions, 1);
  CHECK(failure.id == "u1");
  CHECK(failure.stage == Stage::start);
  CHECK(failure.reason == "exited with status 3 before it was ready");
  CHECK(failure.exit_status == 3);
  CHECK_FALSE(failure.signal);
  CHECK(log_of(actions) ==
        "generation 2: exited with status 3 before it was ready; upgrade u1 failed at its start; "
        "generation 1 stays active\n");
}

TEST_CASE("a candidate that is killed by a signal is told with its number") {
  Bench bench;
  bench.reach(Phase::preparing);

  const auto failure = failure_told(bench.die(2, SIGSEGV), 1);

  CHECK(failure.signal == SIGSEGV);
  CHECK_FALSE(failure.exit_status);
  CHECK_THAT(failure.reason, Contains("SIGSEGV"));
}

TEST_CASE("an unfit candidate is killed, and the failure is told once it has been reaped") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.hello(2, "2.0");

  const Actions at_once = bench.say(2, agent_protocol::Unfit{"configuration: no such file"});
  const Actions reaped = bench.die(2, SIGKILL);

  CHECK(kills(at_once) == Generations{2});
  CHECK(messages_to(at_once, 1).empty());
  const auto failure = failure_told(reaped, 1);
  CHECK(failure.reason == "unfit: configuration: no such file");
  CHECK_FALSE(failure.signal);
}

TEST_CASE("only the first cause of a failure is told") {
  Bench bench;
  bench.reach(Phase::confirming);
  bench.say(1, agent_protocol::Cancel{"u1", "changed my mind"});

  const auto failure = failure_told(bench.exit(2, 9), 1);

  CHECK(failure.stage == Stage::cancel);
  CHECK_THAT(failure.reason, Contains("changed my mind"));
}

TEST_CASE("the executable's errno is told where the check or the start has one") {
  Bench bench;
  bench.reach(Phase::running);

  bench.next_check_fails("EACCES");
  CHECK(failure_told(bench.upgrade("u1"), 1).errno_name == "EACCES");
  bench.next_spawn_fails("ETXTBSY");
  const auto failure = failure_told(bench.upgrade("u2"), 1);
  CHECK(failure.stage == Stage::spawn);
  CHECK(failure.errno_name == "ETXTBSY");
}

TEST_CASE("a start that fails takes no generation, but a sequential one has been promised") {
  Bench bench;
  bench.reach(Phase::running);
  bench.next_spawn_fails("EAGAIN");
  bench.upgrade("u1");
  CHECK(spawns(bench.upgrade("u2")) == Generations{2});

  Bench other;
  other.reach(Phase::running);
  auto sequential = request("u1");
  sequential.mode = agent_protocol::Mode::sequential;
  const auto accepted = message_to<agent_protocol::Accepted>(other.upgrade(sequential), 1);
  other.stopped(1);
  other.next_spawn_fails("EAGAIN");
  const Actions actions = other.exit(1);

  REQUIRE(accepted);
  CHECK(accepted->generation == 2);
  CHECK(spawns(actions) == Generations{2, 3});
}

TEST_CASE("an absent timeout of a request is the option's, and its own goes before") {
  Policy policy = Bench::default_policy();
  policy.defaults.stop_timeout = Duration(7'000);
  Bench bench(policy);
  bench.reach(Phase::switching);
  CHECK(bench.state().incumbent->deadline == bench.now() + Duration(7'000));

  Bench other(policy);
  other.reach(Phase::running);
  auto asked = request("u1");
  asked.stop_timeout_ms = 1'500;
  other.upgrade(asked);
  const auto stop = message_to<agent_protocol::Stop>(other.ready(2), 1);
  REQUIRE(stop);
  CHECK(stop->deadline_ms == 1'500);
  CHECK(stop->id == "u1");
  CHECK(stop->generation == 2);
}

TEST_CASE("a fallback has the longer of both start timeouts, and none where either is none") {
  const auto deadline_of_fallback = [](Duration option, std::int64_t asked) {
    Policy policy = Bench::default_policy();
    policy.defaults.start_timeout = option;
    Bench bench(policy);
    bench.start();
    bench.ready(1);
    auto upgrade = request("u1");
    upgrade.start_timeout_ms = asked;
    bench.upgrade(upgrade);
    bench.ready(2);
    bench.stopped(1);
    bench.exit(1);
    bench.exit(2);
    const auto deadline = bench.state().incumbent->deadline;
    return deadline ? *deadline - bench.now() : Duration(0);
  };

  CHECK(deadline_of_fallback(Duration(5'000), 9'000) == Duration(9'000));
  CHECK(deadline_of_fallback(Duration(5'000), 1'000) == Duration(5'000));
  CHECK(deadline_of_fallback(Duration(5'000), 0) == Duration(0));
  CHECK(deadline_of_fallback(Duration(0), 1'000) == Duration(0));
}

TEST_CASE("the first agent's past is vouched for by nobody") {
  Bench bench;
  bench.start();

  const auto activate = message_to<agent_protocol::Activate>(bench.ready(1), 1);

  REQUIRE(activate);
  CHECK_FALSE(activate->clean);
  CHECK_FALSE(activate->state);
}

TEST_CASE("a candidate is told the version that it replaces") {
  Bench bench;
  bench.start();
  bench.hello(1, "1.4");
  bench.say(1, agent_protocol::Ready{});
  bench.upgrade("u1");

  const auto welcome = message_to<agent_protocol::Welcome>(bench.hello(2, "1.5"), 2);

  REQUIRE(welcome);
  CHECK(welcome->role == agent_protocol::Role::candidate);
  CHECK(welcome->previous_version == "1.4");
  CHECK(welcome->generation == 2);
}

TEST_CASE("a fallback is told what failed, and the version that did") {
  Bench bench;
  bench.start();
  bench.ready(1);
  bench.upgrade("u1");
  bench.hello(2, "1.5");
  bench.say(2, agent_protocol::Ready{});
  bench.stopped(1);
  bench.exit(1);
  bench.die(2, SIGABRT);

  const auto welcome = message_to<agent_protocol::Welcome>(bench.hello(3), 3);

  REQUIRE(welcome);
  REQUIRE(welcome->failure);
  CHECK(welcome->failure->version == "1.5");
  CHECK(welcome->failure->failure.stage == Stage::trial);
  CHECK(welcome->failure->failure.signal == SIGABRT);
}

TEST_CASE("both sides use the lower version of the protocol") {
  Bench bench;
  bench.start();
  agent_protocol::Hello hello;
  hello.protocol = 7;
  hello.features = {"parking"};

  const auto welcome = message_to<agent_protocol::Welcome>(bench.say(1, hello), 1);

  REQUIRE(welcome);
  CHECK(welcome->protocol == 1);
  CHECK(welcome->features.empty());
}

TEST_CASE("nothing extends a deadline but its own agent") {
  Bench bench;
  bench.reach(Phase::switching);
  const auto before = bench.state().incumbent->deadline;

  bench.say(2, agent_protocol::Extend{60'000});
  bench.say(1, agent_protocol::Status{"still at it"});
  CHECK(bench.state().incumbent->deadline == before);

  bench.say(1, agent_protocol::Extend{1});
  CHECK(bench.state().incumbent->deadline == before);
  bench.say(1, agent_protocol::Extend{86'400'000});
  CHECK(bench.state().incumbent->deadline == bench.now() + Duration(86'400'000));
}

TEST_CASE("an agent's deeds are judged before a deadline that has passed") {
  Bench bench;
  bench.reach(Phase::switching);

  bench.take(MessageReceived{1, agent_protocol::Stopped{}, false});
  const Actions actions = bench.take(DeadlinePassed{});

  CHECK(kills(actions).empty());
  CHECK(bench.state().incumbent->stopped);
}

TEST_CASE("a deadline that was set while another was judged is not judged with it") {
  Bench bench;
  bench.reach(Phase::switching);
  const Time limit = *bench.state().incumbent->deadline;
  bench.wait(std::chrono::seconds(89));

  Supervisor late = bench.supervisor();
  const Actions before = late.step(DeadlinePassed{limit - Time(1)}, limit + Time(5));
  const Actions actions = late.step(DeadlinePassed{limit}, limit + Time(5));

  CHECK(before.empty());
  CHECK(kills(actions) == Generations{1});
}

TEST_CASE("an agent is late if its deadline has passed") {
  Bench bench;
  bench.reach(Phase::preparing);
  bench.hello(2);
  const Time start_limit = *bench.state().candidate->deadline;

  CHECK(bench.supervisor().late(start_limit - Time(1)).empty());
  CHECK(bench.supervisor().late(start_limit) == Generations{2});

  Bench trial;
  trial.reach(Phase::trial);
  CHECK(trial.supervisor().late(*trial.state().upgrade->deadline) == Generations{2});
}

TEST_CASE("a confirm for a candidate that has just closed its output does not open the gate") {
  Bench bench;
  bench.reach(Phase::confirming);
  bench.take(OutputClosed{2});

  const Actions confirmed = bench.say(1, agent_protocol::Confirm{"u1"});
  const Actions closed = bench.wait(close_grace);

  CHECK(messages_to(confirmed, 1).empty());
  CHECK(kills(closed) == Generations{2});
  CHECK(failure_told(bench.die(2, SIGKILL), 1).stage == Stage::start);
}

TEST_CASE("last words count from the first on, a hello among them") {
  Bench bench;
  bench.start();
  bench.last_word(1, agent_protocol::Hello{});
  bench.last_word(1, agent_protocol::Unfit{"the database is down"});

  const Actions actions = bench.exit(1, 3);

  CHECK(bench.exit_status() == exit_own_failure);
  CHECK_THAT(log_of(actions), Contains("the database is down"));
}

Policy policy_that_relinks() {
  Policy policy = Bench::default_policy();
  policy.relink = true;
  return policy;
}

TEST_CASE("before the start a signal leaves the link alone: it is another upgrader's") {
  Bench bench(policy_that_relinks());

  CHECK(restores(bench.take(UpgradeRequested{})) == 0);
  bench.start();
  CHECK(restores(bench.take(UpgradeRequested{})) == 1);
}

TEST_CASE("refusals that an agent asks for are limited in the log, those of an operator are not") {
  Bench bench;
  bench.reach(Phase::preparing);

  const Actions busy = bench.upgrade("u2");
  const Actions by_signal = bench.take(UpgradeRequested{});

  CHECK(std::any_of(busy.begin(), busy.end(), [](const Action& action) {
    const auto* notice = std::get_if<Notice>(&action);
    return notice != nullptr && notice->kind == NoticeKind::refusal;
  }));
  CHECK(std::none_of(by_signal.begin(), by_signal.end(),
                     [](const Action& action) { return std::holds_alternative<Notice>(action); }));
}

TEST_CASE("an active agent that closes its output goes on serving") {
  Bench bench;
  bench.reach(Phase::running);

  CHECK(kills(bench.take(OutputClosed{1})).empty());
  CHECK(kills(bench.wait(std::chrono::hours(1))).empty());
  CHECK(bench.phase() == Phase::running);
}

TEST_CASE("a candidate that has closed its output is not activated, however short ago that was") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.take(OutputClosed{2});
  bench.stopped(1);

  const Actions at_once = bench.exit(1);
  const Actions later = bench.wait(close_grace);

  CHECK(messages_to(at_once, 2).empty());
  CHECK(kills(at_once).empty());
  CHECK(kills(later) == Generations{2});
  CHECK(bench.phase() == Phase::falling_back);
}

TEST_CASE("a candidate that closes its output and exits has exited, the other being gone or not") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.take(OutputClosed{2});
  bench.stopped(1);
  bench.exit(1);

  bench.die(2, SIGSEGV);

  CHECK(bench.state().upgrade->failure->signal == SIGSEGV);
  CHECK(bench.phase() == Phase::falling_back);
}

TEST_CASE("the version that failed is the candidate's, whatever the other one says when killed") {
  Bench bench;
  bench.reach(Phase::trial);
  bench.wait(std::chrono::seconds(30));
  auto sequential = request("u2");
  sequential.mode = agent_protocol::Mode::sequential;
  bench.upgrade(sequential);
  bench.wait(std::chrono::seconds(90));

  bench.hello(2, "9.9");
  bench.die(2, SIGKILL);

  const auto welcome = message_to<agent_protocol::Welcome>(bench.hello(4), 4);
  REQUIRE(welcome);
  REQUIRE(welcome->failure);
  CHECK_FALSE(welcome->failure->version);
}

TEST_CASE("an agent on trial that closes its input is none the worse for it") {
  Bench bench;
  bench.reach(Phase::trial);

  bench.take(InputClosed{2});
  bench.wait(std::chrono::seconds(30));

  CHECK(bench.phase() == Phase::running);
  CHECK(bench.active() == 2);
}

TEST_CASE("a link that cannot be committed rolls the agent on trial back") {
  Bench bench(policy_that_relinks());
  bench.reach(Phase::trial);
  bench.next_relink_fails("ENOSPC");

  const Actions actions = bench.wait(std::chrono::seconds(30));

  CHECK(messages_to(actions, 2) == Types{"stop"});
  CHECK(bench.state().upgrade->failure->stage == Stage::commit);
  CHECK(bench.state().upgrade->failure->errno_name == "ENOSPC");
}

TEST_CASE("committed is sent only when the link is durable") {
  Bench bench(policy_that_relinks());
  bench.reach(Phase::trial);

  const Actions actions = bench.wait(std::chrono::seconds(30));

  CHECK(summary(actions) == Types{"relink", "send 2 committed u1 2", "ending committed"});
}

TEST_CASE("before the stop it is proved that the link can name the candidate's program") {
  Bench bench(policy_that_relinks());
  bench.reach(Phase::running);
  bench.upgrade("u1");
  bench.hello(2);

  const Actions actions = bench.say(2, agent_protocol::Ready{});

  REQUIRE_FALSE(actions.empty());
  const auto* const prove = std::get_if<ProveRelink>(&actions.front());
  REQUIRE(prove != nullptr);
  CHECK(prove->program == 2);
}

Policy policy_with_a_way_back() {
  Policy policy = policy_that_relinks();
  policy.previous = true;
  policy.attempts = true;
  return policy;
}

TEST_CASE("a way back at boot is committed without moving the link that it came from") {
  Bench bench(policy_with_a_way_back());
  bench.start();
  bench.exit(1, 3);
  bench.ready(2);

  const Types told = summary(bench.wait(std::chrono::seconds(30)));

  REQUIRE_FALSE(told.empty());
  CHECK_THAT(told.front(), Catch::EndsWith(", and leave the previous link"));
}

TEST_CASE("a way back on trial that has not said that it works in time is rolled back") {
  Policy policy = policy_with_a_way_back();
  policy.defaults.start_timeout = std::chrono::seconds(3);
  Bench bench(policy);
  bench.start();
  bench.exit(1, 3);
  bench.say(2, agent_protocol::Hello{1, {}, {agent_protocol::readiness_feature}});
  bench.say(2, agent_protocol::Ready{});
  REQUIRE(bench.phase() == Phase::trial);

  bench.wait(std::chrono::seconds(3));

  CHECK(bench.phase() == Phase::rolling_back);
}

TEST_CASE("an executable has lasted when its agent has been active for the time of a trial") {
  Bench bench(policy_with_a_way_back());
  bench.reach(Phase::running);

  CHECK(summary(bench.wait(std::chrono::milliseconds(29'999))).empty());
  CHECK(summary(bench.wait(std::chrono::milliseconds(1))) == Types{"forget attempts"});
}

TEST_CASE("nobody waits for an executable to last that the link does not name any more") {
  Bench bench(policy_with_a_way_back());
  bench.reach(Phase::trial);
  bench.say(2, agent_protocol::Healthy{});
  REQUIRE(bench.phase() == Phase::running);
  bench.upgrade("u2");
  bench.ready(3);
  bench.stopped(2);
  bench.exit(2);
  bench.exit(3, 1);
  bench.ready(4);
  REQUIRE(bench.active() == 4);

  CHECK(summary(bench.wait(std::chrono::hours(1))).empty());
}

// ---- messages from the wrong agent, or too late: they are refused or ignored

TEST_CASE("a candidate may not confirm its own upgrade") {
  Bench bench;
  bench.reach(Phase::confirming);

  CHECK(messages_to(bench.say(2, agent_protocol::Confirm{"u1"}), 2) == Types{"error"});
  CHECK(bench.phase() == Phase::confirming);
}

TEST_CASE("an agent that is rolled back is told that unfit comes too late") {
  Bench bench;
  bench.reach(Phase::rolling_back);

  CHECK(messages_to(bench.say(2, Unfit{"again"}), 2) == Types{"error"});
}

TEST_CASE("an agent that was asked to end by SIGTERM is heard no more") {
  Bench bench;
  bench.start();
  bench.take(StopRequested{});

  CHECK(messages_to(bench.ready(1), 1).empty());
  CHECK(bench.take(MessageRefused{1, agent_protocol::Malformed{"ready", "is wrong", {}}}).empty());
}

TEST_CASE("an agent that has stopped is told nothing of an upgrade that ends with the upgrader") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.stopped(1);

  CHECK(messages_to(bench.take(StopRequested{}), 1).empty());
}

TEST_CASE("a fallback that has not said hello is killed when the upgrader is told to stop") {
  Bench bench;
  bench.reach(Phase::falling_back);

  CHECK(kills(bench.take(StopRequested{})) == std::vector<Generation>{3});
}

TEST_CASE("the link is put back where an upgrade that names it ends with the upgrader") {
  Policy policy = Bench::default_policy();
  policy.relink = true;
  Bench bench(policy);
  bench.reach(Phase::running);
  bench.take(UpgradeRequested{});
  REQUIRE(bench.phase() == Phase::preparing);

  CHECK(restores(bench.take(StopRequested{})) == 1);
}

TEST_CASE("actions in the memory that a step is lent are not ordered again") {
  Supervisor supervisor(Bench::default_policy());

  CHECK(supervisor.step(DeadlinePassed{}, Time{1}, {Kill{1}}).empty());
}

}  // namespace supervisor_test
