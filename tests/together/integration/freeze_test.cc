// Tests a freeze, as if a cgroup is frozen or a virtual machine is paused: deadlines pass while no
// process runs. See LIFE AND DEATH in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace freeze_test {

using namespace integration;

namespace {

constexpr int freeze_ms = 4'000;  // the duration of the freeze, in milliseconds

// Stops the upgrader for `freeze_ms`. The agents are not stopped, but write nothing in this time.
void freeze_all(World& world) {
  world.freeze();
  world.pass(freeze_ms);
  world.thaw();
  world.wait_for_log("the upgrader did not run");
}

}  // namespace

TEST_CASE("an agent that a freeze kept from stopping in time stops after it") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":1000)");

  freeze_all(world);

  old.say_type("stopped");
  old.exit(0);
  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("a candidate that a freeze kept from being ready in time is ready after it") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("start_timeout_ms":1000)");

  freeze_all(world);

  next.ready();
  old.expect("stop");
}

TEST_CASE("an agent that does not stop after a freeze is killed") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":1000)");

  freeze_all(world);

  world.fallback();
  old.expect_gone();
}

}  // namespace freeze_test
