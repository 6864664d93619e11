// Tests the supervisor's decisions about messages that come from the wrong agent, or too late. Such
// messages are refused or ignored.
#include <catch2/catch.hpp>

#include "tests/support/bench.h"

namespace supervisor_refusals_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;
using agent_protocol::Unfit;
using Types = std::vector<std::string>;

}  // namespace

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

}  // namespace supervisor_refusals_test
