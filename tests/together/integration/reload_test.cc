// Tests which messages init is sent during an upgrade by SIGUSR2, and when init is asked for more
// time for a first agent or a stop.
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/notify_socket.h"
#include "tests/together/integration/world.h"

namespace reload_test {

using namespace integration;

TEST_CASE("an upgrade by a signal is a reload to init, whether it is committed or fails") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.first();
  init.hears(world, "READY=1\n");
  const bool good = GENERATE(true, false);

  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  init.hears(world, "RELOADING=1\nMONOTONIC_USEC=");
  CHECK(init.count("READY=1") == 1);
  if (good) {
    next.ready();
    old.stop_cleanly();
    next.expect("activate");
    next.expect("committed");
  } else {
    next.exit(1);
  }

  world.wait_until([&] { return init.count("READY=1") == 2; }, "init hears READY=1 again");
  CHECK(init.count("RELOADING=1") == 1);
}

TEST_CASE("a signal that no upgrade can follow is answered to init all the same") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.environment = {init.variable()}});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  world.signal(SIGUSR2);

  world.wait_until([&] { return init.count("READY=1") == 2; }, "init hears READY=1 again");
  CHECK(init.count("RELOADING=1\nMONOTONIC_USEC=") == 1);
  next.exit(1);
  old.expect("upgrade_failed");
}

TEST_CASE("an upgrade that the agent asked for is no reload") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.first();

  world.hand_over(old).expect("committed");

  init.hears(world, "STATUS=running 2.0 (generation 2)\n");
  CHECK(init.count("RELOADING=1") == 0);
  CHECK(init.count("READY=1") == 1);
}

TEST_CASE("init is told when a first agent, or a stop, is given more time") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=20s", "--stop-timeout=20s"},
                    .environment = {init.variable()}});
  Puppet active = world.agent();
  active.hello();
  active.say_type("extend", R"("ms":3600000)");
  init.hears(world, "EXTEND_TIMEOUT_USEC=360");
  active.ready();
  active.expect("activate");
  world.signal(SIGTERM);
  active.expect("stop");
  CHECK(init.count("EXTEND_TIMEOUT_USEC=") == 1);

  active.say_type("extend", R"("ms":7200000)");

  init.hears(world, "EXTEND_TIMEOUT_USEC=720");
  active.say_type("stopped");
  active.exit(0);
  world.expect_exit(0);
}

}  // namespace reload_test
