// Tests agents that fail on trial, and the fall-back, in parallel and in sequential upgrades: see
// FAILURES in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace fallback_test {

using namespace integration;

namespace {

// Begins an upgrade, and leads it to the trial of the new agent. The old agent has ended.
Puppet reach_trial(World& world, Puppet old, const std::string& mode) {
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode));
  old.expect("accepted");
  if (mode == "sequential") old.stop_cleanly(R"("state":"from old")");
  Puppet next = world.candidate();
  next.ready();
  if (mode == "parallel") old.stop_cleanly(R"("state":"from old")");
  next.expect("activate");
  return next;
}

}  // namespace

TEST_CASE("an agent on trial that exits is fallen back from") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, mode);
  const int status = GENERATE(0, 3);

  next.exit(status);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("stage") == "trial");
  CHECK(welcome.object("failure").number("exit_status") == status);
  back.ready();
  const Json activate = back.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
}

TEST_CASE("an agent on trial that still runs gets stop, and after its time SIGKILL") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, mode);

  next.say_type("unfit", R"("reason":"corrupt")");
  const Json stop = next.expect("stop");
  CHECK(stop.text("reason") == "rollback");
  CHECK(stop.members() == Texts{"deadline_ms", "reason"});
  next.say_type("stopped", R"("state":"from next")");
  next.exit(0);

  Puppet back = world.agent();
  CHECK(back.hello().object("failure").text("stage") == "trial");
  back.ready();
  const Json activate = back.expect("activate");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "from next");
}

TEST_CASE("an agent on trial that does not stop in time is killed and fallen back from") {
  World world({"--stop-timeout=300ms"});
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, "parallel");

  next.say_type("unfit", R"("reason":"corrupt")");
  next.expect("stop");

  Puppet back = world.fallback();
  next.expect_gone();
  back.expect_silence();
}

TEST_CASE("a fallback that cannot start either leaves it to init: 125") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, mode);
  next.exit(1);
  Puppet back = world.agent();

  SECTION("it exits") {
    back.exit(0);
  }
  SECTION("it is unfit") {
    back.hello();
    back.say_type("unfit", R"("reason":"no")");
  }
  SECTION("it closes its output") {
    back.close_output();
  }

  world.expect_exit(125);
  CHECK(world.agents_started() == 3);
}

}  // namespace fallback_test
