// Tests SIGTERM to the upgrader at every stage of an upgrade: see SIGNALS in upgrader(8).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace shutdown_upgrade_test {

using namespace integration;

TEST_CASE("during an upgrade, before the stop: the agent is told of its end, then to stop") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("gate":"confirm")");
  SECTION("while the candidate starts") {}
  SECTION("at the gate") {
    next.ready();
    old.expect("candidate_ready");
  }

  world.signal(SIGTERM);

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("id") == "u1");
  CHECK(failed.text("stage") == "shutdown");
  CHECK(old.expect("stop").text("reason") == "shutdown");
  next.expect_gone();  // the candidate is killed before the old agent says `stopped`
  old.say_type("stopped");
  old.exit(0);
  world.expect_exit(0);
}

TEST_CASE("SIGTERM after stop: upgrade_failed, the stop stands, nothing is activated") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world({"--mode=" + mode});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  if (mode == "parallel") world.candidate().ready();
  old.expect("stop");

  world.signal(SIGTERM);

  CHECK(old.expect("upgrade_failed").text("stage") == "shutdown");
  old.expect_silence();
  SECTION("it confirms") {
    old.say_type("stopped");
    old.exit(4);
    world.expect_exit(0);
  }
  SECTION("it does not") {
    old.exit(4);
    world.expect_exit(4);
  }
  CHECK(world.agents_started() == (mode == "parallel" ? 2 : 1));
}

TEST_CASE("after the stop: the deadline of that stop goes on") {
  World world({"--stop-timeout=60s"});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("stop_timeout_ms":300)");
  next.ready();
  old.expect("stop");

  world.signal(SIGTERM);
  old.expect("upgrade_failed");

  world.expect_exit(128 + SIGKILL);
}

TEST_CASE("a cancel that crosses is answered with stop, and what is left of the deadline") {
  World world({"--stop-timeout=60s"});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("stop_timeout_ms":20000)");
  next.ready();
  old.expect("stop");
  world.signal(SIGTERM);
  old.expect("upgrade_failed");

  old.say_type("cancel", R"("id":"u1")");

  const Json stop = old.stop_cleanly();
  CHECK(stop.text("reason") == "shutdown");
  CHECK(stop.number("deadline_ms") <= 20'000);
  CHECK(stop.number("deadline_ms") >= 1);
  world.expect_exit(0);
}

TEST_CASE("after stopped nothing more is said to the old agent, and nothing is activated") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");
  old.say_type("stopped");
  old.expect_silence();

  world.signal(SIGTERM);
  next.expect_gone();

  old.expect_silence();
  old.exit(3);
  world.expect_exit(0);
}

TEST_CASE("on trial: stop, and the log says how the upgrade ended") {
  World world;
  Puppet next = world.hand_over(world.first());

  world.signal(SIGTERM);

  CHECK(next.stop_cleanly().text("reason") == "shutdown");
  world.expect_exit(0);
  CHECK(world.log().find("u1") != std::string::npos);
}

TEST_CASE("during a roll-back: the stop stays as it is, and nothing is started") {
  World world;
  Puppet next = world.hand_over(world.first());
  next.say_type("unfit", R"("reason":"no")");
  CHECK(next.expect("stop").text("reason") == "rollback");

  world.signal(SIGTERM);

  next.expect_silence();
  SECTION("clean") {
    next.say_type("stopped");
    next.exit(0);
    world.expect_exit(0);
  }
  SECTION("not clean") {
    next.exit(9);
    world.expect_exit(9);
  }
  CHECK(world.agents_started() == 2);
}

TEST_CASE("a held fallback gets SIGKILL, and the agent that was active last decides the status") {
  World world;
  Puppet next = world.hand_over(world.first());
  const bool greeted = GENERATE(false, true);
  int status = 0;
  SECTION("not clean") {
    next.exit(9);
    status = 9;
  }
  SECTION("clean: it exited with 0") {
    next.exit(0);
  }
  SECTION("clean: it said stopped") {
    next.say_type("unfit", R"("reason":"no")");
    next.expect("stop");
    next.say_type("stopped");
    next.exit(5);
  }
  Puppet back = world.agent();
  if (greeted) back.hello();

  world.signal(SIGTERM);

  world.expect_exit(status);
  back.expect_gone();
}

TEST_CASE("a held candidate of a sequential upgrade gets SIGKILL: the last stop was clean") {
  World world({"--mode=sequential"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  old.stop_cleanly();
  Puppet next = world.agent();

  world.signal(SIGTERM);

  world.expect_exit(0);
  next.expect_gone();
  CHECK(world.log().find("u1") != std::string::npos);
}

}  // namespace shutdown_upgrade_test
