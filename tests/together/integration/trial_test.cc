// Tests the trial: the time after the activation of a new version, in which the upgrade can still
// be undone. See UPGRADES, and the members `commit` and `trial_ms`, in agent-protocol(7).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace trial_test {

using namespace integration;

TEST_CASE("an agent that survives its trial is committed") {
  World world;
  Puppet next = world.hand_over(world.first(), R"("trial_ms":100)");

  const Json committed = next.expect("committed");

  CHECK(committed.text("id") == "u1");
  CHECK(committed.number("generation") == 2);
  CHECK(committed.members() == Texts{"generation", "id"});
  next.expect_silence();
}

TEST_CASE("before its time is up an agent on trial is not committed") {
  World world;
  Puppet next = world.hand_over(world.first(), R"("trial_ms":60000)");

  next.expect_silence();
}

TEST_CASE("a trial of 0 commits at once") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old, R"("trial_ms":0)");
  old.stop_cleanly();

  next.expect("activate");
  next.expect("committed");

  next.exit(3);
  world.expect_exit(3);  // if an agent exits after its trial, the upgrader exits
}

TEST_CASE("healthy commits at once, whatever the commit rule") {
  const std::string rule = GENERATE("survive", "healthy");
  World world;
  Puppet next =
      world.hand_over(world.first(), "\"trial_ms\":60000,\"commit\":" + json_quoted(rule));

  next.say_type("healthy");

  next.expect("committed");
  next.say_type("healthy");
  next.expect_error("healthy");
}

// Requirements (tests/judging/rows): Z-29
TEST_CASE("with commit healthy an agent that does not say it in time is rolled back") {
  World world;
  Puppet next = world.hand_over(world.first(), R"("trial_ms":300,"commit":"healthy")");

  CHECK(next.expect("stop").text("reason") == "rollback");
  next.say_type("healthy");
  next.expect_error("healthy");
  next.say_type("stopped");
  next.exit(0);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("stage") == "trial");
  CHECK(welcome.object("failure").text("version") == "2.0");
}

TEST_CASE("a healthy that came in time counts, however late it is seen") {
  World world;
  Puppet next = world.hand_over(world.first(), R"("trial_ms":1000,"commit":"healthy")");

  world.freeze();
  next.say_type("healthy");
  world.pass(1100);
  world.thaw();

  next.expect("committed");
}

TEST_CASE("an agent that is unfit on trial is rolled back, and its reason is told") {
  World world;
  Puppet next = world.hand_over(world.first());

  next.say_type("unfit", R"("reason":"the index is corrupt")");
  const Json stop = next.stop_cleanly();

  CHECK(stop.text("reason") == "rollback");
  CHECK(stop.number("deadline_ms") >= 1);
  const Json failure = world.agent().hello().object("failure");
  CHECK(failure.text("reason").find("the index is corrupt") != std::string::npos);
  CHECK(failure.text("stage") == "trial");
}

TEST_CASE("a roll-back has the stop timeout of the upgrade") {
  World world({"--stop-timeout=60s"});
  Puppet next = world.hand_over(world.first(), R"("stop_timeout_ms":20000)");

  next.say_type("unfit", R"("reason":"no")");

  const std::int64_t left = next.expect("stop").number("deadline_ms");
  CHECK(left <= 20'000);
  CHECK(left > 10'000);
}

TEST_CASE("an agent that is rolled back is killed when its time is over") {
  World world;
  Puppet next = world.hand_over(world.first(), R"("stop_timeout_ms":300)");
  next.say_type("unfit", R"("reason":"no")");
  next.expect("stop");

  Puppet back = world.agent();

  const Json failure = back.hello().object("failure");
  CHECK(failure.text("stage") == "trial");
  back.ready();
  CHECK_FALSE(back.expect("activate").boolean("clean"));
  next.expect_gone();
}

// Requirements (tests/judging/rows): J-17
TEST_CASE("an agent that is ended by a signal on trial is fallen back from") {
  World world;
  Puppet next = world.hand_over(world.first());

  next.kill(SIGSEGV);

  const Json failure = world.agent().hello().object("failure");
  CHECK(failure.text("stage") == "trial");
  CHECK(failure.number("signal") == SIGSEGV);
}

TEST_CASE("an agent on trial cannot ask for an upgrade: one is under way") {
  World world;
  Puppet next = world.hand_over(world.first());

  next.request_upgrade("u2");

  const Json failed = next.expect("upgrade_failed");
  CHECK(failed.text("id") == "u2");
  CHECK(failed.text("stage") == "request");
  CHECK(failed.text("reason").starts_with("busy"));
  next.say_type("healthy");
  next.expect("committed");
}

TEST_CASE("an agent on trial that closes its output goes on serving") {
  World world;
  Puppet next = world.hand_over(world.first(), R"("trial_ms":300)");

  next.close_output();

  next.expect("committed");
}

TEST_CASE("the trial runs from activate, not from the request") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("trial_ms":300,"commit":"healthy")");
  world.pass(400);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");

  next.say_type("healthy");

  next.expect("committed");
}

}  // namespace trial_test
