// Tests the members of the upgrader's messages, with one test for each row of MESSAGES TO AN AGENT
// in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace messages_to_agent_test {

using namespace integration;

TEST_CASE("welcome to a first agent") {
  World world;

  const Json welcome = world.agent().hello("1.0");

  CHECK(welcome.members() == Texts{"features", "generation", "protocol", "role"});
  CHECK(welcome.number("protocol") == 1);
  CHECK(welcome.array("features").size() == 0);
  CHECK(welcome.number("generation") == 1);
  CHECK(welcome.text("role") == "first");
}

TEST_CASE("welcome to a candidate has the active agent's version, if that is known") {
  World world;
  const bool known = GENERATE(true, false);
  Puppet active = world.first(known ? "1.0-\u00e9\n" : "");
  active.request_upgrade("u1");
  active.expect("accepted");

  const Json welcome = world.agent().hello();

  CHECK(welcome.text("role") == "candidate");
  CHECK(welcome.has("previous_version") == known);
  if (known) CHECK(welcome.text("previous_version") == "1.0-\u00e9\n");
  CHECK_FALSE(welcome.has("failure"));
  CHECK_FALSE(welcome.has("watchdog_ms"));
}

TEST_CASE("welcome to a fallback has the failure, and the failed one's version, if known") {
  World world;
  const bool known = GENERATE(true, false);
  Puppet active = world.first("1.0");
  active.request_upgrade("u1");
  active.expect("accepted");
  Puppet next = world.agent();
  next.hello(known ? "2.0" : "");
  next.ready();
  active.stop_cleanly();
  next.expect("activate");
  next.exit(3);

  const Json welcome = world.agent().hello();

  CHECK(welcome.members() == Texts{"failure", "features", "generation", "protocol", "role"});
  const Json& failure = welcome.object("failure");
  CHECK(failure.text("id") == "u1");
  CHECK(failure.text("stage") == "trial");
  CHECK_FALSE(failure.text("reason").empty());
  CHECK(failure.number("exit_status") == 3);
  CHECK(failure.has("version") == known);
  if (known) CHECK(failure.text("version") == "2.0");
}

TEST_CASE("activate after a clean stop with a state") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  next.ready();
  active.stop_cleanly(R"("state":"s")");

  const Json activate = next.expect("activate");

  CHECK(activate.members() == Texts{"clean", "commit", "state", "trial_ms"});
  CHECK(activate.boolean("clean"));
}

TEST_CASE("activate on trial says how long that lasts, and what passes it") {
  World world;
  Puppet active = world.first();
  active.request_upgrade("u1", R"("trial_ms":70000,"commit":"healthy")");
  active.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  active.stop_cleanly();

  const Json activate = next.expect("activate");

  CHECK(activate.number("trial_ms") == 70'000);
  CHECK(activate.text("commit") == "healthy");
}

TEST_CASE("stop for an upgrade names it, and says how much time there is") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet active = world.first();
  active.request_upgrade("an id !~", R"("stop_timeout_ms":20000,"mode":)" + json_quoted(mode));
  active.expect("accepted");
  if (mode == "parallel") world.candidate().ready();

  const Json stop = active.expect("stop");

  CHECK(stop.members() == Texts{"deadline_ms", "generation", "id", "reason"});
  CHECK(stop.text("reason") == "upgrade");
  CHECK(stop.text("id") == "an id !~");
  CHECK(stop.number("generation") == 2);
  CHECK(stop.number("deadline_ms") <= 20'000);
  CHECK(stop.number("deadline_ms") > 10'000);
}

TEST_CASE("accepted, candidate_ready, candidate_lost and committed have their members") {
  World world;
  Puppet active = world.first();
  active.request_upgrade("u1", R"("gate":"confirm")");
  const Json accepted = active.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  const Json ready = active.expect("candidate_ready");
  active.say_type("confirm", R"("id":"u1")");
  active.expect("stop");
  next.exit(3);
  const Json lost = active.expect("candidate_lost");
  active.say_type("cancel", R"("id":"u1")");
  active.expect("upgrade_failed");
  next = world.hand_over(active, R"("trial_ms":0)");
  const Json committed = next.expect("committed");

  CHECK(accepted.members() == Texts{"generation", "id"});
  CHECK(accepted.text("id") == "u1");
  CHECK(ready.members() == Texts{"generation", "id", "version"});
  CHECK(lost.members() == Texts{"id", "reason"});
  CHECK(committed.members() == Texts{"generation", "id"});
  CHECK(committed.number("generation") == 3);
}

TEST_CASE("upgrade_failed has exit_status, signal or errno only where one applies") {
  World world;
  Puppet active = world.first();
  const auto failed_after = [&](auto deed) {
    Puppet next = world.begin_upgrade(active);
    deed(next);
    return active.expect("upgrade_failed").members();
  };

  CHECK(failed_after([](Puppet next) { next.exit(0); }) ==
        Texts{"exit_status", "id", "reason", "stage"});
  CHECK(failed_after([](Puppet next) { next.kill(15); }) ==
        Texts{"id", "reason", "signal", "stage"});
  CHECK(failed_after([](Puppet next) { next.say_type("unfit", R"("reason":"x")"); }) ==
        Texts{"id", "reason", "stage"});
  CHECK(failed_after([&](Puppet) { active.say_type("cancel", R"("id":"u1")"); }) ==
        Texts{"id", "reason", "stage"});
  active.request_upgrade("u2", "", world.path("missing"));
  CHECK(active.expect("upgrade_failed").members() == Texts{"errno", "id", "reason", "stage"});
}

TEST_CASE("error says what it is about, if that is known, and why") {
  World world;
  Puppet active = world.first();

  active.say_type("cancel", R"("id":"u1")");

  const Json error = active.expect("error");
  CHECK(error.members() == Texts{"about", "reason"});
  CHECK(error.text("about") == "cancel");
  CHECK_FALSE(error.text("reason").empty());
}

TEST_CASE("no upgrade ends twice") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  world.freeze();
  active.say_type("cancel", R"("id":"u1")");
  next.say_type("unfit", R"("reason":"x")");
  next.exit(3);
  world.thaw();

  CHECK(active.expect("upgrade_failed").text("id") == "u1");
  // The kernel decides which agent's pipe the upgrader reads first. If it reads the candidate's
  // `unfit` first, the upgrade has failed by the time it reads the `cancel`, and it answers the
  // `cancel` by an `error`.
  active.say_type("question");
  const Json next_news = active.expect("error");
  if (next_news.text("about") == "cancel") active.expect_error("question");
  world.hand_over(active, R"("trial_ms":0)").expect("committed");
}

}  // namespace messages_to_agent_test
