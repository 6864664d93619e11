// Tests the supervisor's decisions about an agent to which `activate` can be written only with a
// delay, or not at all. All sequences of events are explored in tests/decisions/explore.
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/bench.h"
#include "upgrader/core/words.h"

namespace activate_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using agent_protocol::Stage;

using Types = std::vector<std::string>;
using Generations = std::vector<Generation>;

}  // namespace

TEST_CASE("a candidate that is not reached by its activate has failed at its start") {
  const bool is_waited_for = GENERATE(false, true);
  Bench bench;
  bench.reach(Phase::switching);
  bench.stopped(1, "kept");
  using How = Sent;
  bench.next_activate(is_waited_for ? How::waits : How::lost);
  bench.exit(1);
  if (is_waited_for) CHECK(bench.take(InputClosed{2}).empty());

  const Actions early = bench.wait(close_grace - Duration(1));
  const Actions actions = bench.wait(Duration(1));

  CHECK(early.empty());
  CHECK(bench.active() == 0);
  CHECK(bench.phase() == Phase::falling_back);
  CHECK(messages_to(actions, 2).empty());
  CHECK(kills(actions) == Generations{2});
  CHECK(bench.state().upgrade->failure->stage == Stage::start);
  CHECK(bench.state().upgrade->failure->reason == "closed its input before it was activated");
  bench.die(2, SIGKILL);
  const auto activate = message_to<agent_protocol::Activate>(bench.ready(3), 3);
  REQUIRE(activate);
  CHECK(activate->clean);
  CHECK(activate->state == "kept");
}

TEST_CASE("an agent that is not reached by its activate and exits in time has exited") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.stopped(1);
  bench.next_activate(Sent::lost);
  bench.exit(1);

  bench.exit(2, 3);

  CHECK(bench.state().upgrade->failure->exit_status == 3);
  CHECK(bench.state().upgrade->failure->stage == Stage::start);
}

TEST_CASE("only an agent on trial is told how long that lasts and what passes it") {
  using agent_protocol::Activate;
  using agent_protocol::CommitRule;
  Bench bench;
  bench.start();
  const auto first = message_to<Activate>(bench.ready(1), 1);
  bench.upgrade(
      agent_protocol::Upgrade{.id = "u1", .commit = CommitRule::healthy, .trial_ms = 20'000});
  bench.ready(2);
  bench.stopped(1);
  const auto candidate = message_to<Activate>(bench.exit(1), 2);
  bench.die(2, SIGKILL);
  const auto fallback = message_to<Activate>(bench.ready(3), 3);

  REQUIRE((first && candidate && fallback));
  CHECK_FALSE(first->trial_ms);
  CHECK_FALSE(first->commit);
  CHECK(candidate->trial_ms == 20'000);
  CHECK(candidate->commit == CommitRule::healthy);
  CHECK_FALSE(fallback->trial_ms);
  CHECK_FALSE(fallback->commit);
}

TEST_CASE("a trial of 0 is none, and is not told") {
  Bench bench;
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{.id = "u1", .trial_ms = 0});
  bench.ready(2);
  bench.stopped(1);

  const auto activate = message_to<agent_protocol::Activate>(bench.exit(1), 2);

  REQUIRE(activate);
  CHECK_FALSE(activate->trial_ms);
  CHECK_FALSE(activate->commit);
}

TEST_CASE("the way back at boot is on trial by the options, and is told so") {
  Policy policy = Bench::default_policy();
  policy.previous = true;
  policy.defaults.trial = std::chrono::seconds(7);
  policy.defaults.commit = agent_protocol::CommitRule::healthy;
  Bench bench(policy);
  bench.start();
  bench.exit(1, 1);

  const auto activate = message_to<agent_protocol::Activate>(bench.ready(2), 2);

  REQUIRE(activate);
  CHECK(activate->trial_ms == 7'000);
  CHECK(activate->commit == agent_protocol::CommitRule::survive);
}

TEST_CASE("an activate that waits is given up when the trial would be over") {
  const std::int64_t trial = GENERATE(0, 20'000);
  const Duration timeout{trial == 0 ? 40'000 : trial};
  Bench bench;
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{.id = "u1", .stop_timeout_ms = 40'000, .trial_ms = trial});
  bench.ready(2);
  bench.stopped(1);
  bench.next_activate(Sent::waits);
  bench.exit(1);

  CHECK(messages_to(bench.say(2, agent_protocol::Healthy{}), 2) == Types{"error"});
  CHECK(bench.wait(timeout - Duration(1)).empty());
  const Actions given_up = bench.wait(Duration(1));
  const Actions too_late = bench.take(ActivateWritten{2});
  const Actions killed = bench.wait(close_grace);

  CHECK(summary(given_up) == std::vector<std::string>{"close input of 2"});
  CHECK(too_late.empty());
  CHECK(kills(killed) == Generations{2});
  CHECK(bench.state().upgrade->failure->reason ==
        "did not read its activate within " + in_words(timeout));
}

TEST_CASE("an activate that waited begins no new trial when it has been read") {
  Bench bench;
  bench.reach(Phase::switching);
  bench.stopped(1);
  bench.next_activate(Sent::waits);
  bench.exit(1);
  bench.wait(std::chrono::seconds(29));

  CHECK(bench.active() == 0);
  bench.take(ActivateWritten{2});
  CHECK(bench.active() == 2);
  CHECK(bench.phase() == Phase::trial);
  const Actions actions = bench.wait(std::chrono::seconds(1));

  CHECK(messages_to(actions, 2) == Types{"committed"});
}

TEST_CASE("a first agent that is not reached by its activate is killed, and 125") {
  using How = Sent;
  const How how = GENERATE(How::lost, How::waits);
  Bench bench;
  bench.start();
  bench.next_activate(how);
  bench.ready(1);

  CHECK(bench.phase() == Phase::starting);
  if (how == How::waits) bench.wait(std::chrono::seconds(90));
  CHECK(kills(bench.wait(close_grace)) == Generations{1});
  bench.die(1, SIGKILL);

  CHECK(bench.exit_status() == 125);
}

TEST_CASE("a fallback waits for its activate as long as for a stop, and then it is 125") {
  Bench bench;
  bench.start();
  bench.ready(1);
  bench.upgrade(agent_protocol::Upgrade{.id = "u1", .stop_timeout_ms = 40'000});
  bench.ready(2);
  bench.stopped(1);
  bench.exit(1);
  bench.die(2, SIGKILL);
  bench.next_activate(Sent::waits);
  bench.ready(3);

  CHECK(bench.phase() == Phase::falling_back);
  CHECK(bench.wait(std::chrono::seconds(40) - Duration(1)).empty());
  CHECK(bench.wait(Duration(1)).size() > 0);
  CHECK(kills(bench.wait(close_grace)) == Generations{3});
  bench.die(3, SIGKILL);

  CHECK(bench.exit_status() == 125);
}

TEST_CASE("an agent whose activate waits may close its output, and is activated all the same") {
  Bench bench;
  bench.start();
  bench.next_activate(Sent::waits);
  bench.ready(1);
  bench.take(OutputClosed{1});
  bench.wait(std::chrono::seconds(1));

  bench.take(ActivateWritten{1});

  CHECK(bench.phase() == Phase::running);
}

}  // namespace activate_test
