// Tests upgrades whose old agent does not confirm its stop, in parallel and in sequential upgrades:
// see FAILURES in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace unclean_stop_test {

using namespace integration;

namespace {

void ask(World& world, Puppet old, const std::string& mode, const std::string& policy) {
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode) + ",\"on_unclean_stop\":" +
                                json_quoted(policy) + ",\"stop_timeout_ms\":300");
  old.expect("accepted");
  if (mode == "parallel") world.candidate().ready();
  old.expect("stop");
}

}  // namespace

TEST_CASE("unclean, fallback: the old executable is started again, and the candidate is killed") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  ask(world, old, mode, "fallback");

  SECTION("it exits with status 0") {
    old.exit(0);
  }
  SECTION("it exits with status 3") {
    old.exit(3);
  }
  SECTION("it is ended by a signal") {
    old.kill(11);
  }
  SECTION("it is late") {}

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.number("generation") == 3);
  CHECK(welcome.object("failure").text("id") == "u1");
  CHECK(welcome.object("failure").text("stage") == "stop");
  back.ready();
  const Json activate = back.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
  CHECK(world.agents_started() == (mode == "parallel" ? 3 : 2));
  old.expect_gone();
}

TEST_CASE("unclean, continue: the candidate is activated, and told that it was not clean") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world({"--trial=0"});
  Puppet old = world.first();
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode) + R"(,"on_unclean_stop":"continue",)" +
                                R"("stop_timeout_ms":300)");
  old.expect("accepted");
  Puppet next = old;
  if (mode == "parallel") next = world.candidate();
  if (mode == "parallel") next.ready();
  old.expect("stop");

  SECTION("it exits with status 0") {
    old.exit(0);
  }
  SECTION("it is ended by a signal") {
    old.kill(11);
  }
  SECTION("it is late") {}

  if (mode == "sequential") next = world.candidate();
  if (mode == "sequential") next.ready();
  const Json activate = next.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
  CHECK(next.expect("committed").text("id") == "u1");
  old.expect_gone();
}

TEST_CASE("the policy of an upgrade that does not say is the option's") {
  World world({"--on-unclean-stop=continue", "--trial=0"});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");

  old.exit(0);

  CHECK_FALSE(next.expect("activate").boolean("clean"));
}

TEST_CASE("an unclean stop after the candidate was lost falls back, whatever the policy") {
  const std::string policy = GENERATE("fallback", "continue");
  World world({"--on-unclean-stop=" + policy});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");
  next.exit(3);
  old.expect("candidate_lost");

  old.exit(0);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("stage") == "start");
  back.ready();
  CHECK_FALSE(back.expect("activate").boolean("clean"));
}

TEST_CASE("a candidate that fails after an unclean stop that was carried on leaves a fallback") {
  World world({"--mode=sequential", "--on-unclean-stop=continue"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  old.expect("stop");
  old.exit(0);

  world.candidate().exit(3);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("id") == "u1");
  back.ready();
  const Json activate = back.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
}

TEST_CASE("the deeds of an agent before its deadline count, however late they are seen") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("stop_timeout_ms":300)");
  next.ready();
  old.expect("stop");

  world.freeze();
  old.say_type("stopped");
  world.pass(400);
  world.thaw();

  old.say_type("status", R"("text":"alive")");
  world.wait_for_log("alive");
  old.exit(0);
  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("a candidate that became ready before its time was up is not late") {
  World world;
  Puppet old = world.first();
  old.request_upgrade("u1", R"("start_timeout_ms":1500)");
  old.expect("accepted");
  Puppet next = world.candidate();

  world.freeze();
  next.ready();
  world.pass(1600);
  world.thaw();

  CHECK(old.expect("stop").text("reason") == "upgrade");
}

}  // namespace unclean_stop_test
