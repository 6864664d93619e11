// Tests which agent may send which message, and when, with one test for each row of MESSAGES FROM
// AN AGENT in agent-protocol(7). The effects of `upgrade`, `cancel`, `confirm` and `extend` are in
// other files.
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace messages_from_agent_test {

using namespace integration;

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
  Puppet next = world.begin_upgrade(first, R"("gate":"confirm")");
  next.ready();
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

  world.hand_over(next);  // another upgrade can begin after the first one
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

}  // namespace messages_from_agent_test
