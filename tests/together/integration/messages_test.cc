// Tests the messages of agent-protocol(7). Each row of the tables MESSAGES FROM AN AGENT and
// MESSAGES TO AN AGENT has one test. The tests show which agent may send a message and when, and
// which members the upgrader's messages have. Other files test the effects of `upgrade`, `cancel`,
// `confirm` and `extend`. The last tests are about messages of later protocol versions: see GROWTH.
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace messages_test {

using namespace integration;

// ---- messages from an agent

TEST_CASE("before hello everything else is answered with error, and changes nothing") {
  World world;
  Puppet first = world.agent();

  for (const char* type : {"ready", "healthy", "heartbeat", "stopped"}) {
    first.say_type(type);
    first.expect_error(type);
  }
  first.say_type("unfit", R"("reason":"x")");
  first.expect_error("unfit");
  first.say_type("status", R"("text":"x")");
  first.expect_error("status");
  first.request_upgrade("u1");
  first.expect_error("upgrade");

  first.hello();
  first.ready();
  first.expect("activate");
}

TEST_CASE("hello may say any protocol from 1 on, and both use the lower") {
  const std::string protocol = GENERATE("1", "2", "2147483647");
  World world;
  Puppet first = world.agent();

  first.say_type("hello", "\"protocol\":" + protocol);

  CHECK(first.expect("welcome").number("protocol") == 1);
}

TEST_CASE("a malformed hello is answered with error, and may be said again") {
  World world;
  Puppet first = world.agent();
  const std::string long_version = json_quoted(std::string(129, 'v'));
  std::string many = "\"f\"";
  for (int count = 1; count < 17; ++count)
    many += ",\"f\"";

  for (const std::string& members : std::initializer_list<std::string>{
           "", R"("protocol":0)", R"("protocol":-1)", R"("protocol":2147483648)",
           R"("protocol":"1")", R"("protocol":1.0)", R"("protocol":null)",
           R"("protocol":1,"protocol":1)", R"("protocol":1,"version":1)",
           R"("protocol":1,"version":null)", R"("protocol":1,"version":"a\u0000")",
           "\"protocol\":1,\"version\":" + long_version, R"("protocol":1,"features":"x")",
           R"("protocol":1,"features":[1])", R"("protocol":1,"features":{})",
           "\"protocol\":1,\"features\":[" + many + "]",
           "\"protocol\":1,\"features\":[" + json_quoted(std::string(33, 'f')) + "]"}) {
    INFO(members);
    first.say_type("hello", members);
    first.expect_error("hello");
  }

  first.hello();
}

TEST_CASE("a hello at its limits is well formed") {
  World world;
  Puppet first = world.agent();
  std::string features = json_quoted(std::string(32, 'f'));
  for (int count = 1; count < 16; ++count)
    features += ",\"\"";

  first.say_type("hello", "\"protocol\":1,\"version\":" + json_quoted(std::string(128, 'v')) +
                              ",\"features\":[" + features + "]");

  CHECK(first.expect("welcome").array("features").size() == 0);
}

TEST_CASE("hello is said once") {
  World world;
  Puppet first = world.agent();
  first.hello();
  first.say_type("hello", R"("protocol":1)");
  first.expect_error("hello");
  first.ready();
  first.expect("activate");

  first.say_type("hello", R"("protocol":1)");

  first.expect_error("hello");
}

TEST_CASE("ready is said once, by a held agent") {
  World world;
  Puppet first = world.agent();
  first.hello();
  first.ready();
  first.expect("activate");
  first.say_type("ready");
  first.expect_error("ready");
  Puppet next = world.ready_candidate(first, R"("gate":"confirm")");
  first.expect("candidate_ready");

  next.say_type("ready");

  next.expect_error("ready");
}

TEST_CASE("unfit of a held candidate fails its start, with its reason") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active, R"("gate":"confirm")");
  const bool when_ready = GENERATE(false, true);
  if (when_ready) {
    next.ready();
    active.expect("candidate_ready");
  }
  const std::string reason = std::string(900, 'r');

  next.say_type("unfit", "\"reason\":" + json_quoted(reason));

  const Json failed = active.expect("upgrade_failed");
  CHECK(failed.text("stage") == "start");
  CHECK(failed.text("reason").find(reason) != std::string::npos);
  CHECK_FALSE(failed.has("exit_status"));
  next.expect_gone();
}

TEST_CASE("an unfit with the longest reason is told with a reason within its limit") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  std::string reason;
  for (int count = 0; count < 512; ++count)
    reason += "\u00e9";

  next.say_type("unfit", "\"reason\":" + json_quoted(reason));

  const std::string told = active.expect("upgrade_failed").text("reason");
  CHECK(told.size() <= 1'024);
  CHECK(told.find(reason.substr(0, 800)) != std::string::npos);
}

TEST_CASE("unfit is not for an active agent that has no trial, or has passed it") {
  World world({"--trial=0"});
  Puppet first = world.first();
  first.say_type("unfit", R"("reason":"x")");
  first.expect_error("unfit");
  Puppet next = world.hand_over(first);
  next.expect("committed");

  next.say_type("unfit", R"("reason":"x")");

  next.expect_error("unfit");
}

TEST_CASE("upgrade is for the active agent: a held one gets error") {
  World world;
  Puppet first = world.agent();
  first.hello();
  first.request_upgrade("u1");
  first.expect_error("upgrade");
  first.ready();
  first.expect("activate");
  Puppet next = world.begin_upgrade(first);

  next.request_upgrade("u2");

  next.expect_error("upgrade");
}

TEST_CASE("an upgrade while one is under way is busy, at every stage") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active, R"("gate":"confirm")");
  const auto expect_busy = [](Puppet agent) {
    agent.request_upgrade("u2");
    const Json failed = agent.expect("upgrade_failed");
    CHECK(failed.text("id") == "u2");
    CHECK(failed.text("stage") == "request");
    CHECK(failed.text("reason").starts_with("busy"));
  };
  expect_busy(active);
  next.ready();
  active.expect("candidate_ready");
  expect_busy(active);
  active.say_type("confirm", R"("id":"u1")");
  active.expect("stop");
  expect_busy(active);
  active.say_type("stopped");
  expect_busy(active);
  active.exit(0);
  next.expect("activate");
  expect_busy(next);
  next.say_type("healthy");
  next.expect("committed");

  world.hand_over(next);  // a second upgrade can begin after the first
}

TEST_CASE("an agent that was told to stop is busy: roll-back and shutdown") {
  World world;
  Puppet active = world.first();
  SECTION("roll-back") {
    active = world.hand_over(active);
    active.say_type("unfit", R"("reason":"x")");
  }
  SECTION("shutdown") {
    world.signal(15);
  }
  active.expect("stop");

  active.request_upgrade("u2");

  const Json failed = active.expect("upgrade_failed");
  CHECK(failed.text("stage") == "request");
  CHECK(failed.text("reason").starts_with("busy"));
}

TEST_CASE("stopped is for an agent that was sent stop, once") {
  World world;
  Puppet active = world.first();
  active.say_type("stopped");
  active.expect_error("stopped");
  Puppet next = world.begin_upgrade(active);
  next.say_type("stopped");
  next.expect_error("stopped");
  next.ready();
  active.expect("stop");
  active.say_type("stopped", R"("state":"one")");

  active.say_type("stopped", R"("state":"two")");

  active.expect_error("stopped");
  active.exit(0);
  CHECK(next.expect("activate").text("state") == "one");
}

TEST_CASE("healthy is for the agent on trial") {
  World world;
  Puppet active = world.first();
  active.say_type("healthy");
  active.expect_error("healthy");
  Puppet next = world.begin_upgrade(active);
  next.say_type("healthy");
  next.expect_error("healthy");
  next.ready();
  active.expect("stop");
  next.say_type("healthy");
  next.expect_error("healthy");
  active.say_type("stopped");
  active.exit(0);
  next.expect("activate");

  next.say_type("healthy");

  next.expect("committed");
}

TEST_CASE("heartbeat is for the active agent, and is not answered") {
  World world;
  Puppet active = world.first();
  active.say_type("heartbeat");
  active.expect_silence();
  Puppet next = world.begin_upgrade(active);

  next.say_type("heartbeat");

  next.expect_error("heartbeat");
}

TEST_CASE("status is for any agent after hello, and is shown in the log") {
  World world;
  Puppet active = world.agent();
  active.hello();
  active.say_type("status", R"("text":"getting ready")");
  world.wait_for_log("getting ready");
  active.ready();
  active.expect("activate");
  Puppet next = world.begin_upgrade(active);
  next.say_type("status", R"("text":"looking \u001b[2J around")");
  world.wait_for_log("around");
  active.expect_silence();
  next.expect_silence();

  CHECK(world.log().find('\x1b') == std::string::npos);
}

// ---- messages to an agent

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
  Puppet next = world.ready_candidate(active);
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
  // The upgrader may read the candidate's `unfit` or the active agent's `cancel` first. If it reads
  // `unfit` first, the upgrade has already failed, and the answer to `cancel` is an `error`. The
  // answer to a message of an unknown type is always an `error`. So the next `error` shows which
  // message was read first.
  active.say_type("question");
  const Json next_news = active.expect("error");
  if (next_news.text("about") == "cancel") active.expect_error("question");
  world.hand_over(active, R"("trial_ms":0)").expect("committed");
}

// ---- messages between an upgrader and an agent of different versions

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

}  // namespace messages_test
