// Tests the gate, at which a candidate that is ready waits until somebody confirms the upgrade: see
// `confirm`, `candidate_ready` and `confirm_timeout_ms` in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace gate_test {

using namespace integration;

namespace {

constexpr const char* with_gate = R"("gate":"confirm")";

}  // namespace

TEST_CASE("with a gate the active agent hears of a ready candidate, and opens it") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old, with_gate);

  const Json ready = old.expect("candidate_ready");
  old.expect_silence();
  next.expect_silence();
  old.say_type("confirm", R"("id":"u1")");

  CHECK(ready.text("id") == "u1");
  CHECK(ready.number("generation") == 2);
  CHECK(ready.text("version") == "2.0");
  old.stop_cleanly();
  next.expect("activate");
}

TEST_CASE("candidate_ready has no version where the candidate gave none") {
  World world;
  Puppet old = world.first();
  old.request_upgrade("u1", with_gate);
  old.expect("accepted");
  Puppet next = world.agent();
  next.hello();
  next.ready();

  CHECK_FALSE(old.expect("candidate_ready").has("version"));
}

TEST_CASE("without a gate there is no candidate_ready") {
  const std::string members = GENERATE("", R"("gate":"none")");
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, members);
}

TEST_CASE("the start timeout ends at ready: the gate has its own time") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(
      old, R"("gate":"confirm","start_timeout_ms":1500,"confirm_timeout_ms":0)");
  next.ready();
  old.expect("candidate_ready");

  world.pass(1600);

  old.expect_silence();
  old.say_type("confirm", R"("id":"u1")");
  old.expect("stop");
}

TEST_CASE("the confirm timeout runs from candidate_ready") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("gate":"confirm","confirm_timeout_ms":200)");
  world.pass(300);
  old.expect_silence();

  next.ready();
  old.expect("candidate_ready");

  CHECK(old.expect("upgrade_failed").text("stage") == "confirm");
  next.expect_gone();
}

TEST_CASE("a candidate that fails at the gate fails the upgrade with stage start") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old, with_gate);
  old.expect("candidate_ready");

  SECTION("it exits") {
    next.exit(3);
  }
  SECTION("it is unfit") {
    next.say_type("unfit", R"("reason":"lost the disk")");
  }
  SECTION("it closes its output") {
    next.close_output();
  }

  CHECK(old.expect("upgrade_failed").text("stage") == "start");
  old.say_type("confirm", R"("id":"u1")");
  old.expect_error("confirm");
  next.expect_gone();
}

TEST_CASE("a confirm that does not fit is answered with error and opens nothing") {
  World world;
  Puppet old = world.first();
  old.say_type("confirm", R"("id":"u1")");
  old.expect_error("confirm");  // refused: there is no upgrade to confirm
  Puppet next = world.begin_upgrade(old, with_gate);
  old.say_type("confirm", R"("id":"u1")");
  old.expect_error("confirm");  // refused: the candidate is not ready yet
  next.ready();
  old.expect("candidate_ready");
  old.say_type("confirm", R"("id":"u2")");
  old.expect_error("confirm");  // refused: the upgrade has a different id
  next.say_type("confirm", R"("id":"u1")");
  next.expect_error("confirm");  // refused: the sender is not the active agent
  old.expect_silence();

  old.say_type("confirm", R"("id":"u1")");
  old.expect("stop");

  old.say_type("confirm", R"("id":"u1")");
  old.expect_error("confirm");  // refused: the upgrade has been confirmed already
}

TEST_CASE("a confirm where there is no gate is answered with error") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  old.say_type("confirm", R"("id":"u1")");

  old.expect_error("confirm");
  next.expect_silence();
}

}  // namespace gate_test
