// Tests that an upgrader and an agent of different versions work together: see GROWTH in
// agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace growth_test {

using namespace integration;

TEST_CASE("an agent of a later version is spoken to in version 1") {
  World world({"--trial=0"});
  Puppet first = world.agent();

  first.say_type("hello", R"("protocol":9,"features":["parking"],"colour":{"red":1})");
  const Json welcome = first.expect("welcome");
  first.say_type("ready", R"("certainty":"high")");
  first.expect("activate");

  CHECK(welcome.number("protocol") == 1);
  CHECK(welcome.array("features").size() == 0);
}

TEST_CASE("a type of a later version is answered with error, and the agent goes on") {
  World world;
  Puppet first = world.first();

  first.say_type("park", R"("id":"u1")");

  first.expect_error("park");
  world.hand_over(first);
}

TEST_CASE("a value of a later version is refused, not guessed at") {
  World world;
  Puppet first = world.first();

  first.request_upgrade("u1", R"("commit":"after_an_hour")");

  CHECK(first.expect("upgrade_failed").text("stage") == "request");
}

TEST_CASE("heartbeats are borne though none are wanted") {
  World world;
  Puppet first = world.agent();
  CHECK_FALSE(first.hello().has("watchdog_ms"));
  first.ready();
  first.expect("activate");

  for (int count = 0; count < 100; ++count)
    first.say_type("heartbeat");

  first.expect_silence();
}

}  // namespace growth_test
