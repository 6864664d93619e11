// Tests the two modes of an upgrade, parallel and sequential, step by step: see UPGRADES in
// agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace modes_test {

using namespace integration;

// ---- the parallel upgrade

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
  Puppet next = world.stop_for_upgrade(old);

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
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("stopped", R"("state":"s")");

  const Json activate = next.expect("activate");

  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "s");
  old.expect_gone();
}

TEST_CASE("an exit grace of 0 is no limit: a lingering agent is waited for") {
  World world({"--exit-grace=0", "--stop-timeout=50ms"});
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("stopped");
  world.pass(200);

  next.expect_silence();
  old.exit(0);

  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("stopped makes the stop clean, whatever the exit status or signal") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
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

// ---- the sequential upgrade

TEST_CASE("a sequential upgrade starts the candidate when the old agent has gone") {
  World world({"--trial=50ms"});
  Puppet old = world.first();

  old.request_upgrade("u1", R"("mode":"sequential")");
  const Json accepted = old.expect("accepted");
  const Json stop = old.expect("stop");
  old.say_type("stopped", R"("state":"handed")");
  old.expect_silence();
  CHECK(world.agents_started() == 1);
  old.exit(0);
  Puppet next = world.agent();
  const Json welcome = next.hello("2.0");
  next.ready();
  const Json activate = next.expect("activate");

  CHECK(accepted.number("generation") == 2);
  CHECK(stop.text("reason") == "upgrade");
  CHECK(stop.text("id") == "u1");
  CHECK(stop.number("generation") == 2);
  CHECK(welcome.text("role") == "candidate");
  CHECK(welcome.number("generation") == 2);
  CHECK(welcome.text("previous_version") == "1.0");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "handed");
  CHECK(next.expect("committed").text("id") == "u1");
  old.expect_gone();
}

// Requirements (tests/judging/rows): J-43
TEST_CASE("never more than one agent is there in a sequential upgrade") {
  World world({"--mode=sequential", "--trial=0"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  CHECK(children_of(world.upgrader().pid()).size() == 1);

  old.stop_cleanly();
  Puppet next = world.agent();

  CHECK(children_of(world.upgrader().pid()) == std::vector<pid_t>{next.pid()});
  old.expect_gone();
}

TEST_CASE("a candidate of a sequential upgrade is held until its ready") {
  World world({"--mode=sequential"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  old.stop_cleanly();
  Puppet next = world.candidate();

  next.expect_silence();
  next.ready();

  next.expect("activate");
}

TEST_CASE("a sequential upgrade to what cannot be started is refused before anything is stopped") {
  World world({"--mode=sequential"});
  Puppet old = world.first();

  old.request_upgrade("u1", "", world.path("missing"));

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("stage") == "request");
  CHECK(failed.text("errno") == "ENOENT");
  old.expect_silence();
}

TEST_CASE("a sequential candidate that ends before it is activated is fallen back from") {
  World world({"--mode=sequential"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  old.stop_cleanly(R"("state":"kept")");
  Puppet next = world.candidate();
  std::string member;

  SECTION("it exits") {
    next.exit(3);
    member = "exit_status";
  }
  SECTION("it is ended by a signal") {
    next.kill(6);
    member = "signal";
  }
  SECTION("it is unfit") {
    next.say_type("unfit", R"("reason":"no disk")");
  }
  SECTION("it closes its output") {
    next.close_output();
  }

  Puppet back = world.agent();
  const Json welcome = back.hello();
  back.ready();
  const Json activate = back.expect("activate");
  const Json& failure = welcome.object("failure");
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.number("generation") == 3);
  CHECK(failure.text("id") == "u1");
  CHECK(failure.text("stage") == "start");
  CHECK(failure.text("version") == "2.0");
  CHECK(failure.has("exit_status") == (member == "exit_status"));
  CHECK(failure.has("signal") == (member == "signal"));
  CHECK(activate.text("state") == "kept");
  CHECK(activate.boolean("clean"));
  next.expect_gone();
}

TEST_CASE("a sequential candidate that is late is fallen back from") {
  World world({"--mode=sequential"});
  Puppet old = world.first();
  old.request_upgrade("u1", R"("start_timeout_ms":400)");
  old.expect("accepted");
  old.stop_cleanly();
  Puppet late = world.agent();

  Puppet back = world.agent();

  CHECK(back.hello().object("failure").text("stage") == "start");
  late.expect_gone();
}

TEST_CASE("the generation of a sequential upgrade is taken at accepted") {
  World world({"--mode=sequential"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  CHECK(old.expect("accepted").number("generation") == 2);
  old.expect("stop");
  old.say_type("cancel", R"("id":"u1")");
  old.expect("upgrade_failed");

  old.request_upgrade("u2");

  CHECK(old.expect("accepted").number("generation") == 3);
}

}  // namespace modes_test
