// Tests that the upgrader reads from all agents fairly, and a limited amount at a time. So no agent
// can make the upgrader neglect another agent: see LINES in agent-protocol(7).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/sanitizer.h"
#include "tests/together/integration/world.h"

namespace flow_test {

using namespace integration;

namespace {

constexpr long more_than_all_buffers = 10'000;
// The number of questions after which the upgrader stops reading from an agent: the replies fill
// the agent's input pipe and the upgrader's buffer for replies. The unread questions still fit into
// the agent's output pipe. Otherwise the agent could not write them.
constexpr long as_much_as_fits = 3'800;

}  // namespace

TEST_CASE("a candidate that floods keeps the upgrader from nothing") {
  const std::string line = GENERATE(
      as<std::string>(), R"({"type":"status","text":"here"})", R"({"type":"odd"})", "stray",
      R"({"type":"hello","protocol":1})", "", R"({"type":"status","text":"here","x":[[[[]]]]})");
  INFO(line);
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);

  SECTION("and reads what it gets") {
    next.flood(line);
  }
  SECTION("and does not read") {
    next.stop_reading();
    next.flood(line);
  }

  for (int round = 0; round < 20; ++round)
    active.expect_silence();
  active.say_type("cancel", R"("id":"u1")");
  CHECK(active.expect("upgrade_failed").text("stage") == "cancel");
  next.expect_gone();
}

TEST_CASE("a candidate that writes a line without end keeps the upgrader from nothing") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active, R"("start_timeout_ms":4000)");

  for (int part = 0; part < 100; ++part)
    next.say_bytes(std::string(50'000, 'x'));

  active.expect_silence();
  CHECK(active.expect("upgrade_failed").text("stage") == "start");
  next.expect_gone();
}

TEST_CASE("a flooding agent that is active is stopped like any other") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  active.flood("stray");
  next.ready();

  active.expect("stop");
  active.flood("stray", 1);
  active.say_type("stopped");
  active.exit(0);

  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("every message of an agent that does not read is answered when it reads again") {
  World world;
  Puppet active = world.first();

  active.clog(more_than_all_buffers);
  CHECK(active.unsent() > 0);
  active.start_reading();

  for (long count = 0; count < more_than_all_buffers; ++count)
    active.expect_error("unread");
  active.expect_silence();
}

TEST_CASE("an agent that does not read costs the upgrader a bounded amount of memory") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  const long before = status_kb(world.upgrader().pid(), "VmRSS");

  next.clog(10 * more_than_all_buffers);
  active.clog(10 * more_than_all_buffers);

  CHECK(next.unsent() > 1'000'000);
  if (left_out_when_sanitized("how much memory an agent that does not read may cost")) return;
  CHECK(status_kb(world.upgrader().pid(), "VmRSS") - before < 2'048);
}

TEST_CASE("there is room for an order to an agent that does not read") {
  World world;
  Puppet active = world.first();
  active.clog(more_than_all_buffers);

  world.signal(SIGTERM);
  active.start_reading();

  long errors = 0;
  std::string line = active.next_line();
  while (Json::parse(line)->text("type") == "error") {
    ++errors;
    line = active.next_line();
  }
  CHECK(Json::parse(line)->text("type") == "stop");
  CHECK(errors > 0);
  world.wait_until([&] { return active.unsent() == 0; }, "the rest to be read");
  active.say_type("stopped");
  active.exit(0);
  world.expect_exit(0);
}

TEST_CASE("an agent that does not read is killed when its time is over") {
  World world({"--stop-timeout=300ms"});
  Puppet active = world.first();
  active.clog(more_than_all_buffers);

  world.signal(SIGTERM);

  world.expect_exit(128 + SIGKILL);
}

TEST_CASE("a candidate that does not read keeps the active agent from nothing") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);

  next.clog(more_than_all_buffers);

  active.expect_silence();
  active.say_type("cancel", R"("id":"u1")");
  active.expect("upgrade_failed");
  next.expect_gone();
}

TEST_CASE("an agent's output is read before its exit is judged, even if the agent does not read") {
  World world;
  Puppet active = world.first();
  Puppet next = world.stop_for_upgrade(active);
  active.clog(as_much_as_fits);
  world.wait_until([&] { return active.unsent() == 0; }, "all of it to be in the pipe");

  active.say_type("stopped", R"("state":"at the end")");
  active.exit(1);

  const Json activate = next.expect("activate");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "at the end");
}

TEST_CASE("a ready or healthy that is read together with the agent's exit is dropped") {
  // The usual trial would be over before the exit if the machine stood still for half a minute.
  World world({"--trial=10m"});
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  SECTION("a ready") {
    next.clog(as_much_as_fits);
    next.ready();
    next.exit(3);
    CHECK(active.expect("upgrade_failed").number("exit_status") == 3);
    active.expect_silence();
  }
  SECTION("a healthy") {
    next.ready();
    active.stop_cleanly();
    next.expect("activate");
    next.clog(as_much_as_fits);
    next.say_type("healthy");
    next.exit(3);
    const Json failure = world.agent().hello().object("failure");
    CHECK(failure.text("stage") == "trial");
    CHECK(failure.number("exit_status") == 3);
  }
  SECTION("an upgrade") {
    active.say_type("cancel", R"("id":"u1")");
    active.expect("upgrade_failed");
    active.clog(as_much_as_fits);
    active.request_upgrade("u2");
    active.exit(3);
    world.expect_exit(3);
    CHECK(world.agents_started() == 2);
  }
}

TEST_CASE(
    "an agent's output is read before its deadline is judged, even if the agent does not read") {
  World world({"--exit-grace=300ms"});
  Puppet active = world.first();
  Puppet next = world.stop_for_upgrade(active, R"("stop_timeout_ms":1500)");
  active.clog(as_much_as_fits);
  world.wait_until([&] { return active.unsent() == 0; }, "all of it to be in the pipe");

  active.say_type("stopped", R"("state":"in time")");

  const Json activate = next.expect("activate");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "in time");
  active.expect_gone();
}

TEST_CASE("an agent that closes its input harms nobody but itself") {
  World world({"--stop-timeout=300ms"});
  Puppet active = world.first();
  active.close_input();

  active.say_type("odd");
  active.say_type("status", R"("text":"still here")");

  world.wait_for_log("still here");
  world.signal(SIGTERM);
  world.expect_exit(128 + SIGKILL);
}

TEST_CASE("a candidate that closes its input can still fail or be given up") {
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  next.close_input();
  next.say_type("odd");

  active.say_type("cancel", R"("id":"u1")");

  CHECK(active.expect("upgrade_failed").text("stage") == "cancel");
  next.expect_gone();
}

}  // namespace flow_test
