// Tests an agent's two pipes: see CHANNEL in agent-protocol(7). An agent has ended when its process
// exits, and not when one of its pipes is closed. A child of the agent that keeps a copy of a pipe
// must not delay the upgrader. An agent that has closed its input, or does not read its input,
// cannot get its `activate`.
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/notify_socket.h"
#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace channel_test {

using namespace integration;

namespace {

void wait_for_zombie(World& world, const Puppet& agent) {
  world.wait_until([&] { return state_of(agent.pid()) == 'Z'; }, "an agent that nobody has reaped");
}

}  // namespace

TEST_CASE("an agent's end is its process's exit, though a grandchild holds the pipes") {
  const bool writing = GENERATE(false, true);
  World world;
  Puppet old = world.first();
  const pid_t holder = old.leave_holder(writing);

  SECTION("the active agent's exit ends the upgrader") {
    old.exit(3);
    world.expect_exit(3);
  }
  SECTION("the old agent's stop is clean") {
    Puppet next = world.stop_for_upgrade(old);
    old.say_type("stopped", R"("state":"s")");
    if (!writing) old.expect_silence();
    old.exit(0);
    CHECK(next.expect("activate").boolean("clean"));
  }
  SECTION("a candidate's exit fails its upgrade") {
    Puppet next = world.begin_upgrade(old);
    const pid_t other = next.leave_holder(writing);
    next.exit(3);
    CHECK(old.expect("upgrade_failed").number("exit_status") == 3);
    next.expect_gone();
    CHECK(state_of(other) != '\0');
  }
  // The agent has left the process `holder` running. The upgrader must not touch it.
  CHECK(state_of(holder) != '\0');
}

TEST_CASE("the bytes that the pipe held when the exit was seen are read before it is judged") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  SECTION("a stopped counts") {
    next.ready();
    old.expect("stop");
    world.freeze();
    old.say_type("stopped", R"("state":"last words")");
    old.exit(1);
    wait_for_zombie(world, old);
    world.thaw();
    const Json activate = next.expect("activate");
    CHECK(activate.boolean("clean"));
    CHECK(activate.text("state") == "last words");
  }
  SECTION("a stopped counts, though a grandchild goes on writing behind it") {
    next.ready();
    old.expect("stop");
    world.freeze();
    old.say_type("stopped");
    old.leave_holder(true);
    old.exit(1);
    wait_for_zombie(world, old);
    world.thaw();
    CHECK(next.expect("activate").boolean("clean"));
  }
  SECTION("a status counts") {
    world.freeze();
    next.say_type("status", R"("text":"famous last words")");
    next.exit(3);
    wait_for_zombie(world, next);
    world.thaw();
    old.expect("upgrade_failed");
    world.wait_for_log("famous last words");
  }
  SECTION("an unfit gives the reason") {
    world.freeze();
    next.say_type("unfit", R"("reason":"no room on the disk")");
    next.exit(3);
    wait_for_zombie(world, next);
    world.thaw();
    const Json failed = old.expect("upgrade_failed");
    CHECK(failed.text("reason").find("no room on the disk") != std::string::npos);
    CHECK(failed.text("stage") == "start");
  }
}

TEST_CASE("an unfit that is found with the exit of an agent on trial gives the reason") {
  World world;
  Puppet next = world.hand_over(world.first());
  world.freeze();
  next.say_type("unfit", R"("reason":"corrupt index")");
  next.exit(3);
  wait_for_zombie(world, next);
  world.thaw();

  const Json failure = world.agent().hello().object("failure");

  CHECK(failure.text("stage") == "trial");
  CHECK(failure.text("reason").find("corrupt index") != std::string::npos);
}

TEST_CASE("a held agent that closes its output while it lives has failed, and is killed") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  const bool when_ready = GENERATE(false, true);
  if (when_ready) {
    old.say_type("cancel", R"("id":"u1")");
    old.expect("upgrade_failed");
    next = world.ready_candidate(old, R"("gate":"confirm")");
    old.expect("candidate_ready");
  }

  next.close_output();

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("stage") == "start");
  CHECK_FALSE(failed.has("exit_status"));
  next.expect_gone();
}

TEST_CASE("an exit that follows the closed output is what is reported") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  next.close_output_and_exit(4);

  CHECK(old.expect("upgrade_failed").number("exit_status") == 4);
}

TEST_CASE("an active agent that closes its output goes on serving, but cannot confirm a stop") {
  World world;
  Puppet active = world.first();
  active.close_output();

  SECTION("a shutdown is clean if it exits with 0") {
    world.signal(SIGTERM);
    active.expect("stop");
    active.exit(0);
    world.expect_exit(0);
  }
  SECTION("an upgrade finds an unclean stop") {
    world.signal(SIGUSR2);
    world.candidate().ready();
    CHECK(active.expect("stop").text("id") == "sigusr2-1");
    active.exit(0);
    CHECK(world.agent().hello().object("failure").text("stage") == "stop");
  }
  SECTION("its exit is the upgrader's") {
    active.exit(5);
    world.expect_exit(5);
  }
}

TEST_CASE("an agent that closes its output after stopped has stopped") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("stopped");
  old.close_output();

  next.expect_silence();
  old.exit(0);

  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("when the upgrader has gone, every agent sees the end of its input") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  world.signal(SIGKILL);

  old.expect_end_of_input();
  next.expect_end_of_input();
  old.exit(0);
  next.exit(0);
  world.expect_killed(SIGKILL);
}

TEST_CASE("an agent does not hold the ends of another's pipes") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  const Report one = old.report();
  const Report other = next.report();

  for (const char* key : {"fd:0", "fd:1"}) {
    CHECK(one.value(key) != other.value("fd:0"));
    CHECK(one.value(key) != other.value("fd:1"));
  }
  CHECK(other.keys("fd:") == Texts{"fd:0", "fd:1", "fd:2"});
}

TEST_CASE("descriptors of the upgrader are back at their number after upgrades, good and bad") {
  World world({"--trial=0"});
  Puppet active = world.first();
  active.expect_silence();
  const auto before = descriptors_of(world.upgrader().pid()).size();

  for (int round = 0; round < 5; ++round) {
    active = world.hand_over(active);
    active.expect("committed");
    Puppet bad = world.begin_upgrade(active);
    bad.exit(3);
    active.expect("upgrade_failed");
    active.request_upgrade("u2", "", "/nonexistent/agent");
    active.expect("upgrade_failed");
  }

  active.expect_silence();
  CHECK(descriptors_of(world.upgrader().pid()).size() == before);
}

// ---- agents that cannot get their `activate`

namespace {

// A number of replies that fills the agent's pipe, but not the upgrader's own buffer for replies.
// So the upgrader still reads from the agent.
constexpr long more_than_a_pipe = 780;

// Makes an agent close its input and say `ready`.
Puppet close_input(Puppet agent) {
  agent.close_input();
  agent.ready();
  return agent;
}

// Expects that the upgrader starts a fallback, sends it the reason why the upgrade has failed, and
// sends it the state that the old agent has left.
void expect_way_back(World& world, const std::string& reason) {
  Puppet back = world.agent();
  const Json failure = back.hello().object("failure");
  CHECK(failure.text("stage") == "start");
  CHECK(failure.text("reason") == reason);
  back.ready();
  const Json activate = back.expect("activate");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "from old");
}

// Begins an upgrade, and confirms it. Returns the candidate when the old agent has exited. The
// upgrader now tries to write `activate` to the candidate, but the candidate's input pipe is full,
// and the candidate does not read.
Puppet clog_and_hand_over(World& world, const std::string& members) {
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old, R"("gate":"confirm",)" + members);
  old.expect("candidate_ready");
  next.clog(more_than_a_pipe);
  // Waits until the upgrader has answered all of the candidate's messages, a few in each turn of
  // its event loop. Only then has the candidate's pipe no room for an `activate`.
  next.say_type("status", R"("text":"has flooded")");
  world.wait_for_log("has flooded");
  old.say_type("confirm", R"("id":"u1")");
  old.stop_cleanly(R"("state":"from old")");
  old.expect_gone();
  return next;
}

// Reads the agent's input up to a line of this type. All lines before it must be of type `error`.
Json read_up_to(Puppet agent, const std::string& type) {
  agent.start_reading();
  for (;;) {
    const Json line = Json::parse(agent.next_line()).value();
    if (line.text("type") == type) return line;
    REQUIRE(line.text("type") == "error");
  }
}

}  // namespace

TEST_CASE("a first agent that closed its input is killed, and init is not told that it is ready") {
  World world{World::Later()};
  Init init(world.path("init"));
  world.start(Start{.environment = {init.variable()}});
  Puppet agent = world.agent();
  agent.hello("1.0");

  close_input(agent);

  world.expect_exit(125);
  CHECK(init.count("READY=1") == 0);
  CHECK(world.log().find("is active") == std::string::npos);
  CHECK(world.log().find("closed its input before it was activated") != std::string::npos);
}

TEST_CASE("a candidate that closed its input is not committed, however short its trial is") {
  const int trial = GENERATE(0, 50, 60'000);
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  old.request_upgrade("u1",
                      "\"mode\":" + json_quoted(mode) + ",\"trial_ms\":" + std::to_string(trial));
  old.expect("accepted");
  if (mode == "sequential") old.stop_cleanly(R"("state":"from old")");
  close_input(world.candidate());
  if (mode == "parallel") old.stop_cleanly(R"("state":"from old")");

  expect_way_back(world, "closed its input before it was activated");

  CHECK(world.log().find("is committed") == std::string::npos);
}

TEST_CASE("a fallback that closed its input is killed, and the upgrader ends with 125") {
  World world;
  Puppet next = world.hand_over(world.first());
  next.exit(3);
  Puppet back = world.agent();
  back.hello();

  close_input(back);

  world.expect_exit(125);
}

TEST_CASE("an activate waits for a candidate that does not read, and healthy is refused") {
  World world;
  Puppet next = clog_and_hand_over(world, R"("trial_ms":60000)");
  next.say_type("healthy");
  next.say_type("status", R"("text":"has said so")");
  world.wait_for_log("has said so");
  CHECK(world.log().find("generation 2 (version 2.0) is active") == std::string::npos);

  const Json activate = read_up_to(next, "activate");

  CHECK(activate.text("state") == "from old");
  CHECK(activate.boolean("clean"));
  CHECK(next.expect_error("healthy").has("reason"));
  next.say_type("healthy");
  next.expect("committed");
}

TEST_CASE("an activate that was not read by the end of the trial is taken back") {
  const int trial = GENERATE(0, 300);
  World world;
  Puppet next =
      clog_and_hand_over(world, R"("stop_timeout_ms":700,"trial_ms":)" + std::to_string(trial));

  const std::string limit = trial == 0 ? "700ms" : "300ms";
  expect_way_back(world, "did not read its activate within " + limit);

  next.expect_gone();
}

}  // namespace channel_test
