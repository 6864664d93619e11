// Tests SIGTERM and SIGINT to the upgrader while no upgrade is under way: see SIGNALS in
// upgrader(8).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace shutdown_test {

using namespace integration;

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

  // The upgrader may activate the agent first, or handle the signal first. An agent that has been
  // activated is told to stop; a held one is killed.
  world.wait_until([&] { return first.unread_lines() != 0 || first.gone(); }, "either");
  if (!first.gone() && first.next_line().find("\"activate\"") != std::string::npos) {
    first.stop_cleanly();
  }
  world.expect_exit(0);
}

}  // namespace shutdown_test
