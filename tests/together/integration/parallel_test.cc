// Tests the parallel upgrade, step by step: see UPGRADES in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace parallel_test {

using namespace integration;

TEST_CASE("a parallel upgrade goes from the request to the commit in the order of the page") {
  World world({"--trial=50ms"});
  Puppet old = world.first();

  old.request_upgrade("u1");
  CHECK(old.expect("accepted").number("generation") == 2);
  Puppet next = world.agent();
  CHECK(next.hello("2.0").text("role") == "candidate");
  old.expect_silence();
  next.expect_silence();
  next.ready();
  const Json stop = old.expect("stop");
  old.say_type("stopped");
  old.exit(0);
  next.expect("activate");
  const Json committed = next.expect("committed");

  CHECK(stop.text("reason") == "upgrade");
  CHECK(stop.text("id") == "u1");
  CHECK(stop.number("generation") == 2);
  CHECK(committed.text("id") == "u1");
  CHECK(committed.number("generation") == 2);
  old.expect_gone();
}

TEST_CASE("the candidate runs when accepted is said, and beside the active agent") {
  World world;
  Puppet old = world.first();

  old.request_upgrade("u1");
  old.expect("accepted");

  CHECK(children_of(world.upgrader().pid()).size() == 2);
}

TEST_CASE("the candidate stays held until the old agent has said stopped and has exited") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");

  next.expect_silence();
  old.say_type("stopped");
  old.say_type("status", "\"text\":\"seen\"");
  world.wait_for_log("seen");
  next.expect_silence();
  old.exit(0);

  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("an agent that has said stopped but lingers is killed, and its stop counts as clean") {
  World world({"--exit-grace=100ms"});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");
  old.say_type("stopped", R"("state":"s")");

  const Json activate = next.expect("activate");

  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "s");
  old.expect_gone();
}

TEST_CASE("an exit grace of 0 is no limit: a lingering agent is waited for") {
  World world({"--exit-grace=0", "--stop-timeout=50ms"});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");
  old.say_type("stopped");
  world.pass(200);

  next.expect_silence();
  old.exit(0);

  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("stopped makes the stop clean, whatever the exit status or signal") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  next.ready();
  old.expect("stop");
  old.say_type("stopped");

  SECTION("an exit status") {
    old.exit(7);
  }
  SECTION("a signal") {
    old.kill(11);
  }

  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("an agent can be upgraded again and again") {
  World world({"--trial=0"});
  Puppet active = world.first();

  for (int generation = 2; generation < 8; ++generation) {
    active = world.hand_over(active);
    CHECK(active.expect("committed").number("generation") == generation);
  }

  CHECK(world.agents_started() == 7);
}

TEST_CASE("the new agent serves the next upgrade with its own executable and arguments") {
  World world(Start{.options = {"--trial=0"}, .args = {"one"}});
  Puppet first = world.first();
  const std::string copy = world.install("copy");
  first.request_upgrade("u1", R"("args":["two","three"])", copy);
  first.expect("accepted");
  Puppet second = world.candidate();
  second.ready();
  first.stop_cleanly();
  second.expect("activate");
  second.expect("committed");

  second.request_upgrade("u2");
  second.expect("accepted");
  Puppet third = world.candidate();

  CHECK(first.argv() == Texts{World::puppet(), "one"});
  CHECK(second.argv() == Texts{copy, "two", "three"});
  CHECK(third.argv() == Texts{World::puppet(), "two", "three"});
}

}  // namespace parallel_test
