// Tests `cancel` at each moment from the message `accepted` to the message `stopped`: see MESSAGES
// FROM AN AGENT in agent-protocol(7).
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace cancel_test {

using namespace integration;

TEST_CASE("a cancel kills the candidate and leaves the active agent as it was") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  SECTION("with a reason") {
    old.say_type("cancel", R"("id":"u1","reason":"too busy")");
  }
  SECTION("without") {
    old.say_type("cancel", R"("id":"u1")");
  }

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("id") == "u1");
  CHECK(failed.text("stage") == "cancel");
  CHECK_FALSE(failed.text("reason").empty());
  next.expect_gone();
  old.expect_silence();
}

TEST_CASE("the reason of a cancel is told") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  old.say_type("cancel", R"("id":"u1","reason":"the evening rush")");

  CHECK(old.expect("upgrade_failed").text("reason").find("the evening rush") != std::string::npos);
}

TEST_CASE("a cancel that does not fit is answered with error") {
  World world;
  Puppet old = world.first();
  old.say_type("cancel", R"("id":"u1")");
  old.expect_error("cancel");  // refused: there is no upgrade to cancel
  Puppet next = world.begin_upgrade(old);
  old.say_type("cancel", R"("id":"u2")");
  old.expect_error("cancel");  // refused: the upgrade has a different id
  next.say_type("cancel", R"("id":"u1")");
  next.expect_error("cancel");  // refused: the sender is not the active agent
  next.ready();
  old.expect("stop");

  old.say_type("stopped");
  old.say_type("cancel", R"("id":"u1")");
  old.expect_error("cancel");  // refused: the old agent has said `stopped`
  old.exit(0);

  next.expect("activate");
  next.say_type("cancel", R"("id":"u1")");
  next.expect_error("cancel");  // refused: an upgrade on trial cannot be cancelled
}

TEST_CASE("a malformed cancel is answered with error, and the upgrade goes on") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  const std::string long_reason = json_quoted(std::string(1'025, 'x'));
  for (const std::string& members : std::initializer_list<std::string>{
           "", R"("id":5)", R"("id":"u1","id":"u1")", R"("id":"u1","reason":null)",
           "\"id\":\"u1\",\"reason\":" + long_reason}) {
    INFO(members);
    old.say_type("cancel", members);
    old.expect_error("cancel");
  }

  next.ready();

  old.expect("stop");
}

TEST_CASE("an agent that took the work back after stop may be told to stop again") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world({"--mode=" + mode});
  Puppet old = world.first();
  for (const char* id : {"u1", "u2"}) {
    old.request_upgrade(id);
    old.expect("accepted");
    if (mode == "parallel") world.candidate().ready();
    CHECK(old.expect("stop").text("id") == id);
    old.say_type("cancel", "\"id\":" + json_quoted(id));
    CHECK(old.expect("upgrade_failed").text("id") == id);
  }

  world.signal(15);

  CHECK(old.stop_cleanly().text("reason") == "shutdown");
  world.expect_exit(0);
}

TEST_CASE("a stopped after the cancel is not obeyed") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("cancel", R"("id":"u1")");
  old.expect("upgrade_failed");

  old.say_type("stopped");

  old.expect_error("stopped");
}

TEST_CASE("a cancel that came before the stop timeout counts, however late it is seen") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":500)");

  world.freeze();
  old.say_type("cancel", R"("id":"u1")");
  world.pass(600);
  world.thaw();

  CHECK(old.expect("upgrade_failed").text("stage") == "cancel");
  old.expect_silence();
}

TEST_CASE("the stop timeout of an upgrade that was cancelled does not run on") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":300)");
  old.say_type("cancel", R"("id":"u1")");
  old.expect("upgrade_failed");

  world.pass(400);

  old.expect_silence();
}

}  // namespace cancel_test
