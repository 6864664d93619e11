// Tests agents that cannot get their `activate`, since they have closed their input or do not read
// it: see CHANNEL in agent-protocol(7).
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/notify_socket.h"
#include "tests/together/integration/world.h"

namespace deaf_test {

using namespace integration;

namespace {

// How many replies it takes to fill the agent's pipe. They do not fill the upgrader's memory for
// replies, so the upgrader still reads from the agent.
constexpr long more_than_a_pipe = 780;

// Makes an agent close its input and say `ready`.
Puppet close_input(Puppet agent) {
  agent.close_input();
  agent.ready();
  return agent;
}

// Expects that a fallback is started, that it is sent the reason of the failed upgrade, and that it
// gets the state which the old agent has left.
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

// Begins an upgrade, and leads it to the end of the old agent. Returns the candidate, which has
// been confirmed and now gets its `activate`. The candidate's input pipe is full, and the candidate
// does not read.
Puppet clog_and_hand_over(World& world, const std::string& members) {
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("gate":"confirm",)" + members);
  next.ready();
  old.expect("candidate_ready");
  next.clog(more_than_a_pipe);
  // Waits until the upgrader has answered all of the candidate's questions. It answers only a few
  // in each turn of its event loop, and before the last answer the pipe may still have room for an
  // `activate`.
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

}  // namespace deaf_test
