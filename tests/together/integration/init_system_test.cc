// Tests which messages init is sent, by the protocol of sd_notify(3): see upgrader(8), and `status`
// of agent-protocol(7).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/notify_socket.h"
#include "tests/together/integration/world.h"

namespace init_system_test {

using namespace integration;

TEST_CASE("init is told READY=1 once, when the first agent is active, and STOPPING=1 at the end") {
  World world{World::Later()};
  const bool abstract = GENERATE(false, true);
  Init init((abstract ? "@" : "") + world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.agent();
  old.hello();
  CHECK(init.count("READY=1") == 0);
  old.ready();
  old.expect("activate");
  init.hears(world, "READY=1\n");

  Puppet next = world.hand_over(old);
  next.expect("committed");
  init.hears(world, "STATUS=running 2.0 (generation 2)\n");
  world.signal(SIGTERM);
  next.expect("stop");
  init.hears(world, "STOPPING=1\n");

  next.say_type("stopped");
  next.exit(0);
  world.expect_exit(0);
  CHECK(init.count("READY=1") == 1);
  CHECK(init.count("STOPPING=1") == 1);
}

TEST_CASE("init is told how an upgrade stands") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=1h"}, .environment = {init.variable()}});
  Puppet old = world.first();

  Puppet next = world.begin_upgrade(old);
  init.hears(
      world,
      "STATUS=running 1.0 (generation 1); upgrade u1: starting 2.0 (generation 2), 300 s left\n");
  next.ready();
  old.expect("stop");
  init.hears(world, "STATUS=stopping 1.0 (generation 1); upgrade u1, 90 s left\n");
  old.say_type("stopped");
  old.exit(0);
  next.expect("activate");
  init.hears(world, "STATUS=running 2.0 (generation 2); upgrade u1 on trial, 3600 s left\n");
  next.exit(1);
  init.hears(world, "upgrade u1 has failed, falling back");

  world.fallback();
}

TEST_CASE("an agent's own status is shown to init until the agent has gone") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet active = world.first();

  active.say("stray");
  active.say(R"({"type":"status","text":"42 files\nin hand"})");
  init.hears(world, "; generation 1 (version 1.0): 42 files\\nin hand\n");

  Puppet next = world.hand_over(active);
  next.expect("committed");
  init.hears(world, "STATUS=running 2.0 (generation 2)\n");
  CHECK(init.count("stray") == 0);
}

TEST_CASE("a socket of init that is not there costs nothing") {
  World world{World::Later()};
  const std::string socket = GENERATE("/nowhere/notify", "@nowhere", "vsock:2:1234", "");
  world.start(Start{.options = {"--trial=0"}, .environment = {"NOTIFY_SOCKET=" + socket}});

  Puppet old = world.first();

  world.hand_over(old).expect("committed");
}

TEST_CASE("an agent that floods the upgrader with extend does not flood init") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=1h"}, .environment = {init.variable()}});
  const bool of_a_candidate = GENERATE(false, true);
  Puppet active = of_a_candidate ? world.first() : world.agent();
  if (!of_a_candidate) active.hello();
  Puppet flooding = of_a_candidate ? world.begin_upgrade(active) : active;
  const std::int64_t began = Init::milliseconds_now();
  const std::size_t before = init.messages();

  flooding.flood(R"({"type":"extend","ms":86400000})", 20'000);
  flooding.say(R"({"type":"status","text":"all said"})");

  init.hears(world, "all said");
  const auto seconds = static_cast<std::size_t>((Init::milliseconds_now() - began) / 1'000) + 1;
  CHECK(init.messages() - before <= 10 * seconds);
}

TEST_CASE("READY=1 and STOPPING=1 come as soon as a full socket of init has room again") {
  World world{World::Later()};
  Init init(world.path("notify"));
  init.fill();
  world.start(Start{.environment = {init.variable()}});
  Puppet active = world.first();
  init.hears(world, "READY=1\n");
  CHECK(init.count("READY=1") == 1);
  init.fill();

  world.signal(SIGTERM);
  active.expect("stop");
  init.hears(world, "STOPPING=1\n");

  active.say_type("stopped");
  active.exit(0);
  world.expect_exit(0);
}

TEST_CASE("the end of the upgrader waits for nobody who does not read init's socket") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.environment = {init.variable()}});
  Puppet active = world.first();
  init.hears(world, "READY=1\n");
  init.fill();
  world.signal(SIGTERM);
  active.stop_cleanly();

  world.expect_exit(0);
}

TEST_CASE("init is told that an upgrade has failed until the next one begins") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet active = world.first();

  world.begin_upgrade(active).exit(3);
  active.expect("upgrade_failed");
  init.hears(world,
             "STATUS=running 1.0 (generation 1); upgrade u1 failed at its start: exited with "
             "status 3 before it was ready\n");
  world.hand_over(active).expect("committed");

  init.hears(world, "STATUS=running 2.0 (generation 3)\n");
}

TEST_CASE("READY=1 waits for the word of a first agent that has the feature readiness") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=30s"}, .environment = {init.variable()}});
  Puppet first = world.agent();
  first.say_type("hello", R"("protocol":1,"version":"1.0","features":["other","readiness"])");
  CHECK(first.next_line().find(R"("features":["readiness"])") != std::string::npos);
  first.ready();
  first.expect("activate");
  init.hears(world, "STATUS=starting 1.0 (generation 1), 30 s left\n");
  first.say_type("extend", R"("ms":60000)");
  init.hears(world, "EXTEND_TIMEOUT_USEC=6");
  first.expect_silence();
  CHECK(init.count("READY=1") == 0);

  first.say_type("healthy");

  init.hears(world, "READY=1\nSTATUS=running 1.0 (generation 1)\n");
  first.say_type("extend", R"("ms":1)");
  first.expect_error("extend");
}

TEST_CASE(
    "a first agent that never says that it works is killed, and the upgrader exits with 125") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=1s"}, .environment = {init.variable()}});
  Puppet first = world.agent();
  first.say_type("hello", R"("protocol":1,"features":["readiness"])");
  first.expect("welcome");
  first.ready();
  first.expect("activate");

  world.expect_exit(125);

  CHECK(init.count("READY=1") == 0);
  world.wait_for_log("generation 1 failed: did not say healthy within 1s; ");
}

}  // namespace init_system_test
