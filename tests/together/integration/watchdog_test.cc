// Tests the watchdog: see WATCHDOG_USEC in upgrader(8), and `heartbeat` in agent-protocol(7).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/notify_socket.h"
#include "tests/together/integration/world.h"

namespace watchdog_test {

using namespace integration;

namespace {

Start watched(const Init& init, const std::string& microseconds) {
  return Start{.options = {"--trial=1h"},
               .environment = {init.variable(), "WATCHDOG_USEC=" + microseconds}};
}

}  // namespace

TEST_CASE("init hears WATCHDOG=1 while heartbeats come, none while they do not, and then again") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(watched(init, "300000"));
  Puppet active = world.agent();
  CHECK(active.hello("1.0").number("watchdog_ms") == 300);
  active.ready();
  active.expect("activate");
  const auto hears_one_more = [&] {
    const int before = init.count("WATCHDOG=1\n");
    active.say_type("heartbeat");
    world.wait_until([&] { return init.count("WATCHDOG=1\n") > before; }, "init hears WATCHDOG=1");
  };
  for (int round = 0; round < 3; ++round)
    hears_one_more();

  init.hears(world, "STATUS=running 1.0 (generation 1), silent\n");
  const int before = init.count("WATCHDOG=1\n");
  world.pass(400);
  CHECK(init.count("WATCHDOG=1\n") == before);
  hears_one_more();

  CHECK(world.log().find("generation 1 (version 1.0) is silent: no heartbeat within 300ms") !=
        std::string::npos);
  world.wait_for_log("generation 1 (version 1.0) sends heartbeats again");
}

// Rows: H-101
TEST_CASE("an agent that falls silent on trial is rolled back at once") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(watched(init, "1000000"));
  Puppet old = world.first();
  init.hears(world, "READY=1");  // reads the messages, since init's socket holds only a few
  Puppet next = world.hand_over(old);
  init.hears(world, "upgrade u1 on trial");

  const Json stop = next.expect("stop");
  CHECK(stop.text("reason") == "rollback");
  init.hears(world, "STATUS=stopping 2.0 (generation 2); upgrade u1 has failed, rolling back");
  const int before = init.count("WATCHDOG=1\n");
  world.wait_until([&] { return init.count("WATCHDOG=1\n") > before; },
                   "the upgrader vouches for the roll-back");
  next.say_type("stopped");
  next.exit(0);

  Puppet fallback = world.agent();
  const Json welcome = fallback.hello("1.0");
  CHECK(welcome.object("failure").text("stage") == "trial");
  CHECK(welcome.object("failure").text("reason") == "no heartbeat within 1s");
  CHECK(welcome.number("watchdog_ms") == 1000);
}

TEST_CASE("a heartbeat that is there when its deadline is judged counts") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(watched(init, "1000000"));
  Puppet old = world.first();
  Puppet next = world.hand_over(old);
  world.freeze();
  world.pass(1'100);

  next.say_type("heartbeat");
  next.say_type("nonsense");
  world.thaw();

  next.expect_error("nonsense");
  CHECK(world.log().find("no heartbeat") == std::string::npos);
  CHECK(next.expect("stop").text("reason") == "rollback");
}

TEST_CASE("a watchdog of another process is ignored, and a malformed one is also logged") {
  World world{World::Later()};
  Init init(world.path("notify"));
  const bool others = GENERATE(true, false);
  world.start(
      Start{.environment = {init.variable(), others ? "WATCHDOG_USEC=1000" : "WATCHDOG_USEC=soon",
                            others ? "WATCHDOG_PID=1" : "X=1"}});

  Puppet active = world.agent();
  CHECK_FALSE(active.hello().has("watchdog_ms"));
  CHECK_FALSE(active.report().has_variable("WATCHDOG_USEC"));
  CHECK_FALSE(active.report().has_variable("WATCHDOG_PID"));
  CHECK_FALSE(active.report().has_variable("NOTIFY_SOCKET"));
  const bool told = world.log().find("warning: WATCHDOG_USEC=soon is ignored") != std::string::npos;
  CHECK(told == !others);
}

TEST_CASE("agents are asked for heartbeats also where init has no socket to hear of them") {
  World world(Start{.environment = {"WATCHDOG_USEC=60000000"}});

  CHECK(world.agent().hello().number("watchdog_ms") == 60'000);
}

}  // namespace watchdog_test
