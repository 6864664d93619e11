// Tests the role and the generation (the number) that the upgrader gives to each agent: see ROLES
// in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace roles_test {

using namespace integration;

TEST_CASE("the first agent is generation 1, held until its ready, and has no trial") {
  World world;
  Puppet first = world.agent();

  const Json welcome = first.hello("1.0");
  first.expect_silence();
  first.ready();

  CHECK(welcome.text("role") == "first");
  CHECK(welcome.number("generation") == 1);
  first.expect("activate");
  first.expect_silence();
}

TEST_CASE("every process that is started has the next generation") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  next.exit(1);
  active.expect("upgrade_failed");
  active.request_upgrade("u2");
  CHECK(active.expect("accepted").number("generation") == 3);
  Puppet third = world.agent();
  CHECK(third.hello().number("generation") == 3);
  third.ready();
  active.stop_cleanly();
  third.expect("activate");
  third.exit(1);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  back.ready();
  back.expect("activate");

  CHECK(welcome.number("generation") == 4);
  CHECK(welcome.text("role") == "fallback");
  back.request_upgrade("u3");
  CHECK(back.expect("accepted").number("generation") == 5);
}

TEST_CASE("a request that starts nothing takes no generation") {
  World world;
  Puppet active = world.first();
  const std::string mode = GENERATE("parallel", "sequential");
  active.request_upgrade("u1", "\"mode\":" + json_quoted(mode), world.path("missing"));
  active.expect("upgrade_failed");

  active.request_upgrade("u2", "\"mode\":" + json_quoted(mode));

  CHECK(active.expect("accepted").number("generation") == 2);
}

TEST_CASE("a fallback is held until its ready, gets activate then, and has no trial") {
  World world({"--trial=100ms"});
  Puppet next = world.hand_over(world.first());
  next.exit(1);
  Puppet back = world.agent();
  back.hello();

  back.expect_silence();
  back.ready();

  back.expect("activate");
  world.pass(200);
  back.expect_silence();
}

TEST_CASE("a candidate that is ready is held all the same") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old, R"("gate":"confirm")");
  old.expect("candidate_ready");

  next.expect_silence();
}

TEST_CASE("an agent is active until it has been reaped, not only until it has said stopped") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("stopped");
  old.close_output();
  old.close_input();

  // The old agent has closed its output. An agent that was never active would have to exit within
  // 200 ms after that. But the old agent was active, so the upgrader must wait longer for its exit,
  // and must not activate the candidate before.
  world.pass(300);

  next.expect_silence();
  old.exit(0);
  next.expect("activate");
}

}  // namespace roles_test
