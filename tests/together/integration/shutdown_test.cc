// Tests SIGTERM and SIGINT to the upgrader, while no upgrade is under way and at every stage of an
// upgrade: see SIGNALS in upgrader(8).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace shutdown_test {

using namespace integration;

// ---- no upgrade is under way

TEST_CASE("a first agent that has not said hello gets SIGTERM, and none ever was active: 0") {
  World world;
  Puppet first = world.agent();
  first.catch_signal(SIGTERM);

  world.signal(SIGTERM);

  CHECK(first.expect_signal() == SIGTERM);
  first.exit(3);
  world.expect_exit(0);
}

TEST_CASE("a first agent that ignores the SIGTERM is killed when the stop timeout has passed") {
  World world({"--stop-timeout=100ms"});
  Puppet first = world.agent();
  first.ignore_signal(SIGTERM);

  world.signal(SIGTERM);

  world.expect_exit(0);
  first.expect_gone();
}

TEST_CASE("a held first agent that has said hello gets SIGKILL") {
  World world;
  Puppet first = world.agent();
  first.hello();
  first.ignore_signal(SIGTERM);

  world.signal(SIGTERM);

  world.expect_exit(0);
  first.expect_gone();
}

TEST_CASE("the active agent is stopped, and how it ended decides the exit status") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  World world({"--stop-timeout=20s"});
  Puppet first = world.first();

  world.signal(signal);
  const Json stop = first.expect("stop");

  CHECK(stop.members() == Texts{"deadline_ms", "reason"});
  CHECK(stop.text("reason") == "shutdown");
  CHECK(stop.number("deadline_ms") <= 20'000);
  CHECK(stop.number("deadline_ms") > 10'000);
  SECTION("stopped, and 0") {
    first.say_type("stopped");
    first.exit(0);
    world.expect_exit(0);
  }
  SECTION("stopped, and another status") {
    first.say_type("stopped");
    first.exit(3);
    world.expect_exit(0);
  }
  SECTION("0 without stopped") {
    first.exit(0);
    world.expect_exit(0);
  }
  SECTION("another status") {
    first.exit(3);
    world.expect_exit(3);
  }
  SECTION("a signal") {
    first.kill(SIGSEGV);
    world.expect_exit(128 + SIGSEGV);
  }
}

TEST_CASE("an active agent that does not stop in time is killed") {
  World world({"--stop-timeout=100ms"});
  Puppet first = world.first();

  world.signal(SIGTERM);
  first.expect("stop");

  world.expect_exit(128 + SIGKILL);
  first.expect_gone();
}

TEST_CASE("an agent that lingers after stopped is killed after the exit grace: 0") {
  World world({"--exit-grace=100ms"});
  Puppet first = world.first();

  world.signal(SIGTERM);
  first.expect("stop");
  first.say_type("stopped");

  world.expect_exit(0);
}

TEST_CASE("a second SIGTERM or SIGINT changes nothing") {
  World world;
  Puppet first = world.first();
  world.signal(SIGTERM);
  first.expect("stop");

  world.signal(SIGINT);
  world.signal(SIGTERM);

  first.expect_silence();
  first.say_type("stopped");
  first.exit(0);
  world.expect_exit(0);
}

TEST_CASE("a ready that crosses the SIGTERM activates nobody") {
  World world;
  Puppet first = world.agent();
  first.hello();

  world.freeze();
  first.ready();
  world.signal(SIGTERM);
  world.thaw();

  // The upgrader may read the `ready` first, or handle the signal first. If it reads the `ready`
  // first, it activates the agent and then tells it to stop. If it handles the signal first, it
  // kills the agent, which is not active yet.
  world.wait_until([&] { return first.unread_lines() != 0 || first.gone(); }, "either");
  if (!first.gone() && first.next_line().find("\"activate\"") != std::string::npos) {
    first.stop_cleanly();
  }
  world.expect_exit(0);
}

// ---- an upgrade is under way

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
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":300)");

  world.signal(SIGTERM);
  old.expect("upgrade_failed");

  world.expect_exit(128 + SIGKILL);
}

TEST_CASE("a cancel that crosses is answered with stop, and what is left of the deadline") {
  World world({"--stop-timeout=60s"});
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":20000)");
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
  Puppet next = world.stop_for_upgrade(old);
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

}  // namespace shutdown_test
