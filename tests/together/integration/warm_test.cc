// Tests a fallback that stands by during the trial: see Warm fallback in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace warm_test {

using namespace integration;

namespace {

// An upgrade on trial: the new agent is active, the old one has gone, and the standby has been
// started.
struct Trial {
  Puppet next;
  Puppet standby;
};

Trial reach_trial(World& world, Puppet old, const std::string& members = "") {
  old.request_upgrade("u1", members);
  old.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  old.stop_cleanly(R"("state":"from old")");
  next.expect("activate");
  return {next, world.agent()};
}

}  // namespace

TEST_CASE("a standby is welcomed without a failure, and activated with it when the trial fails") {
  World world({"--fallback=warm"});
  Trial trial = reach_trial(world, world.first());
  const Json welcome = trial.standby.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.number("generation") == 3);
  CHECK_FALSE(welcome.has("failure"));
  trial.standby.ready();
  trial.standby.expect_silence();

  trial.next.exit(3);

  const Json activate = trial.standby.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK(activate.object("failure").text("id") == "u1");
  CHECK(activate.object("failure").text("stage") == "trial");
  CHECK(activate.object("failure").number("exit_status") == 3);
}

TEST_CASE("a standby gets the state that the agent on trial left when it was rolled back") {
  World world;
  Trial trial = reach_trial(world, world.first(), R"("fallback":"warm")");
  trial.next.say_type("unfit", R"("reason":"corrupt")");
  CHECK(trial.next.expect("stop").text("reason") == "rollback");
  const Json welcome = trial.standby.hello();
  CHECK(welcome.object("failure").text("reason") == "unfit: corrupt");
  trial.standby.ready();
  trial.standby.expect_silence();

  trial.next.say_type("stopped", R"("state":"from next")");
  trial.next.exit(0);

  const Json activate = trial.standby.expect("activate");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "from next");
  CHECK_FALSE(activate.has("failure"));
}

TEST_CASE(
    "parts of the failure are left out of an activate if a long state leaves no room for them") {
  World world({"--fallback=warm"});
  Trial trial = reach_trial(world, world.first());
  trial.standby.hello();
  trial.standby.ready();
  trial.next.say_type("unfit", "\"reason\":" + json_quoted(std::string(1'000, 'r')));
  trial.next.expect("stop");
  const std::string state(32'500, '"');

  trial.next.say_type("stopped", "\"state\":" + json_quoted(state));
  trial.next.exit(0);

  const Json activate = trial.standby.expect("activate");
  CHECK(activate.text("state") == state);
  const Json failure = activate.object("failure");
  CHECK(failure.text("id") == "u1");
  CHECK(failure.text("stage") == "trial");
  CHECK(failure.text("reason").rfind("unfit: rrrr", 0) == 0);
  CHECK(failure.text("reason").size() < 1'000);
}

TEST_CASE("a standby is killed at the commit, and its end costs nothing") {
  World world({"--fallback=warm", "--trial=1h"});
  Trial trial = reach_trial(world, world.first());
  trial.standby.hello();
  trial.standby.ready();

  trial.next.say_type("healthy");

  trial.next.expect("committed");
  trial.standby.expect_gone();
  world.wait_for_log("generation 3 has been reaped");
  trial.next.request_upgrade("u2", "");
  trial.next.expect("accepted");
}

TEST_CASE("a standby that fails makes the fall-back cold") {
  World world({"--fallback=warm"});
  Trial trial = reach_trial(world, world.first());
  trial.standby.hello();
  trial.standby.exit(7);
  world.wait_for_log("a fall-back has to start the previous program cold");

  trial.next.exit(3);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.number("generation") == 4);
  CHECK(welcome.object("failure").number("exit_status") == 3);
  back.ready();
  back.expect("activate");
}

TEST_CASE("an upgrade without a trial has no standby") {
  World world;
  Puppet old = world.first();
  old.request_upgrade("u1", R"("fallback":"warm","trial_ms":0)");
  old.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  old.stop_cleanly();
  next.expect("activate");
  next.expect("committed");

  next.request_upgrade("u2", "");

  // The next candidate is generation 3. If a standby had been started, it would be generation 3.
  CHECK(next.expect("accepted").number("generation") == 3);
}

}  // namespace warm_test
