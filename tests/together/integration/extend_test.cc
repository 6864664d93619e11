// Tests how agents ask for more time: see `extend` in agent-protocol(7).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace extend_test {

using namespace integration;

namespace {

constexpr const char* a_minute = R"("ms":60000)";

}  // namespace

TEST_CASE("a held agent may extend its start") {
  World world({"--start-timeout=1s"});
  Puppet first = world.agent();
  first.hello();
  first.say_type("extend", a_minute);
  first.expect_silence();

  world.pass(1'100);

  first.ready();
  first.expect("activate");
}

TEST_CASE("a candidate may extend its start, as often as it likes") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("start_timeout_ms":1500)");
  next.say_type("extend", a_minute);
  next.say_type("extend", a_minute);
  next.expect_silence();

  world.pass(1'600);

  next.ready();
  old.expect("stop");
}

TEST_CASE("an extend never brings a deadline nearer") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("start_timeout_ms":60000)");

  next.say_type("extend", R"("ms":1)");
  world.pass(50);

  next.expect_silence();
  next.ready();
  old.expect("stop");
  old.say_type("extend", R"("ms":1)");
  world.pass(50);
  old.say_type("stopped");
  old.exit(0);
  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("an extended deadline is a deadline") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":300)");

  old.say_type("extend", R"("ms":600)");

  CHECK(world.agent().hello().object("failure").text("stage") == "stop");
  old.expect_gone();
}

TEST_CASE("an agent that was told to stop may extend its stop") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":500)");
  old.say_type("extend", a_minute);

  world.pass(600);

  old.say_type("stopped");
  old.exit(0);
  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("an agent that is rolled back, or shut down, may extend its stop") {
  World world({"--stop-timeout=500ms"});
  Puppet active = world.first();
  SECTION("rolled back") {
    active = world.hand_over(active);
    active.say_type("unfit", R"("reason":"no")");
    CHECK(active.expect("stop").text("reason") == "rollback");
    active.say_type("extend", a_minute);
    world.pass(600);
    active.say_type("stopped");
    active.exit(0);
    Puppet back = world.agent();
    back.hello();
    back.ready();
    CHECK(back.expect("activate").boolean("clean"));
  }
  SECTION("shut down") {
    world.signal(SIGTERM);
    active.expect("stop");
    active.say_type("extend", a_minute);
    world.pass(600);
    active.say_type("stopped");
    active.exit(0);
    world.expect_exit(0);
  }
}

TEST_CASE("without a deadline an extend has no effect") {
  World world({"--start-timeout=0"});
  Puppet first = world.agent();
  first.hello();

  first.say_type("extend", R"("ms":1)");
  world.pass(50);

  first.expect_silence();
  first.ready();
  first.expect("activate");
}

TEST_CASE("an extend of one who has no deadline to extend is answered with error") {
  World world;
  Puppet old = world.agent();
  old.say_type("extend", a_minute);
  old.expect_error("extend");  // refused: the agent has not said `hello`
  old.hello();
  old.ready();
  old.expect("activate");
  old.say_type("extend", a_minute);
  old.expect_error("extend");  // refused: the agent is active, and has not been told to stop
  Puppet next = world.ready_candidate(old, R"("gate":"confirm")");
  old.expect("candidate_ready");
  next.say_type("extend", a_minute);
  next.expect_error("extend");  // refused: the candidate is ready, so it has no deadline
  old.say_type("confirm", R"("id":"u1")");
  old.expect("stop");
  old.say_type("stopped");
  old.say_type("extend", a_minute);
  // This `extend` must be refused: after `stopped`, the time until the exit cannot be extended.
  old.expect_error("extend");
  old.exit(0);
  next.expect("activate");
  next.say_type("extend", a_minute);
  next.expect_error("extend");  // refused: the agent is on trial
}

TEST_CASE("the exit grace runs from stopped, and is not the stop timeout's rest") {
  World world({"--exit-grace=300ms"});
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":60000)");
  old.say_type("extend", a_minute);
  old.say_type("stopped");

  CHECK(next.expect("activate").boolean("clean"));
  old.expect_gone();
}

}  // namespace extend_test
