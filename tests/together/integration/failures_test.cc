// Tests each failure of an upgrade: see FAILURES in agent-protocol(7). If a failure can happen both
// in parallel and in sequential upgrades, it is tested in both. In the last tests, the old agent is
// told to stop and does not answer `stopped`. fallback_test.cc tests the trial and the fallback.
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace failures_test {

using namespace integration;

namespace {

// Begins an upgrade, and waits until the old agent is told to stop. In a parallel upgrade, the
// candidate is ready when this returns.
void reach_stop(World& world, Puppet old, const std::string& mode) {
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode));
  old.expect("accepted");
  if (mode == "parallel") world.candidate().ready();
  old.expect("stop");
}

}  // namespace

TEST_CASE("before the stop, no failure of the candidate is noticed by the active agent") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  std::string member;
  std::int64_t value = 0;

  SECTION("it exits with status 0") {
    next.exit(0);
    member = "exit_status";
  }
  SECTION("it exits with status 3") {
    next.exit(3);
    member = "exit_status";
    value = 3;
  }
  SECTION("it is ended by a signal") {
    next.kill(11);
    member = "signal";
    value = 11;
  }
  SECTION("it is unfit") {
    next.say_type("unfit", R"("reason":"no disk")");
  }
  SECTION("it closes its output") {
    next.close_output();
  }

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("id") == "u1");
  CHECK(failed.text("stage") == "start");
  CHECK_FALSE(failed.text("reason").empty());
  CHECK_FALSE(failed.has("errno"));
  CHECK(failed.has("exit_status") == (member == "exit_status"));
  CHECK(failed.has("signal") == (member == "signal"));
  if (!member.empty()) CHECK(failed.number(member) == value);
  CHECK(state_of(next.pid()) == '\0');  // the candidate has exited and has been reaped
  old.expect_silence();
  next.expect_gone();
  world.hand_over(old);  // the failed upgrade does not hinder a later one
}

TEST_CASE("before the stop, a candidate that is late fails the upgrade") {
  World world;
  Puppet old = world.first();
  old.request_upgrade("u1", R"("start_timeout_ms":400)");
  old.expect("accepted");
  Puppet next = world.agent();

  SECTION("without a word") {}
  SECTION("after hello") {
    next.hello();
  }

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("stage") == "start");
  next.expect_gone();
  old.expect_silence();
}

TEST_CASE("a candidate that cannot be started after all fails the upgrade at once") {
  World world;
  Puppet old = world.first();
  // The file begins like a program for this machine, so the upgrader's check passes, but the kernel
  // refuses to execute the file.
  const std::string executable = world.write("bad", read_file(World::puppet()).substr(0, 64));

  old.request_upgrade("u1", "", executable);

  const Json failed = old.expect("upgrade_failed");
  CHECK((failed.text("stage") == "spawn" || failed.text("stage") == "request"));
  CHECK(failed.text("errno") == "ENOEXEC");
  old.expect_silence();
  CHECK(world.agents_started() == 1);
}

TEST_CASE("before the stop, cancel and the gate's time leave the active agent as it was") {
  World world;
  Puppet old = world.first();
  std::string stage;

  SECTION("cancel before the candidate is ready") {
    Puppet next = world.begin_upgrade(old);
    old.say_type("cancel", R"("id":"u1")");
    stage = "cancel";
  }
  SECTION("cancel at the gate") {
    Puppet next = world.ready_candidate(old, R"("gate":"confirm")");
    old.expect("candidate_ready");
    old.say_type("cancel", R"("id":"u1")");
    stage = "cancel";
  }
  SECTION("the gate's time is up") {
    Puppet next = world.ready_candidate(old, R"("gate":"confirm","confirm_timeout_ms":50)");
    old.expect("candidate_ready");
    stage = "confirm";
  }

  CHECK(old.expect("upgrade_failed").text("stage") == stage);
  old.expect_silence();
  world.hand_over(old);
}

TEST_CASE("the active agent exits before the stop: the candidate is killed, the upgrader exits") {
  World world;
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old, R"("gate":"confirm")");
  SECTION("while the candidate starts") {}
  SECTION("at the gate") {
    next.ready();
    old.expect("candidate_ready");
  }

  old.exit(4);

  world.expect_exit(4);
  next.expect_gone();
}

TEST_CASE("the active agent exits after its cancel: the upgrader exits") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  reach_stop(world, old, mode);
  old.say_type("cancel", R"("id":"u1")");
  old.expect("upgrade_failed");

  old.kill(9);

  world.expect_exit(137);
  CHECK(world.agents_started() == (mode == "parallel" ? 2 : 1));
}

TEST_CASE("after the stop, the old agent is told of a lost candidate and may take the work back") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);

  SECTION("it dies") {
    next.exit(3);
  }
  SECTION("it is ended by a signal") {
    next.kill(6);
  }
  SECTION("it is unfit") {
    next.say_type("unfit", R"("reason":"no more")");
  }
  SECTION("it closes its output") {
    next.close_output();
  }

  const Json lost = old.expect("candidate_lost");
  CHECK(lost.text("id") == "u1");
  CHECK_FALSE(lost.text("reason").empty());
  old.say_type("cancel", R"("id":"u1")");
  // The candidate failed before the `cancel` came, so the reported stage is `start`, not `cancel`.
  CHECK(old.expect("upgrade_failed").text("stage") == "start");
  old.expect_silence();
  next.expect_gone();
  CHECK(world.agents_started() == 2);
}

TEST_CASE("an agent that stops although its candidate is lost comes back as fallback") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  next.exit(3);
  old.expect("candidate_lost");

  old.say_type("stopped", R"("state":"s")");
  old.exit(0);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("stage") == "start");
  CHECK(welcome.object("failure").number("exit_status") == 3);
  back.ready();
  const Json activate = back.expect("activate");
  CHECK(activate.text("state") == "s");
  CHECK(activate.boolean("clean"));
}

TEST_CASE("an agent that has said stopped is not told of a lost candidate") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  old.say_type("stopped");
  world.wait_for_log("confirmed its clean stop");

  next.exit(3);
  next.expect_gone();

  old.expect_silence();
  old.exit(0);
  CHECK(world.agent().hello().object("failure").number("exit_status") == 3);
}

TEST_CASE("after the stop, the old agent's cancel keeps it active") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  reach_stop(world, old, mode);

  old.say_type("cancel", R"("id":"u1","reason":"too busy")");

  const Json failed = old.expect("upgrade_failed");
  CHECK(failed.text("stage") == "cancel");
  old.expect_silence();
  CHECK(world.agents_started() == (mode == "parallel" ? 2 : 1));
  world.hand_over(old);
}

TEST_CASE("a fallback has no trial, and the upgrade is never tried again") {
  World world({"--trial=0"});
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old, R"("trial_ms":10000)");
  old.stop_cleanly();
  next.expect("activate");
  next.exit(1);
  Puppet back = world.fallback();
  back.expect_silence();

  SECTION("its exit is the upgrader's") {
    back.exit(6);
    world.expect_exit(6);
    CHECK(world.agents_started() == 3);
  }
  SECTION("it can be upgraded") {
    world.hand_over(back).expect("committed");
  }
}

// ---- the old agent does not confirm its stop

namespace {

void ask(World& world, Puppet old, const std::string& mode, const std::string& policy) {
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode) + ",\"on_unclean_stop\":" +
                                json_quoted(policy) + ",\"stop_timeout_ms\":300");
  old.expect("accepted");
  if (mode == "parallel") world.candidate().ready();
  old.expect("stop");
}

}  // namespace

TEST_CASE("unclean, fallback: the old executable is started again, and the candidate is killed") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  ask(world, old, mode, "fallback");

  SECTION("it exits with status 0") {
    old.exit(0);
  }
  SECTION("it exits with status 3") {
    old.exit(3);
  }
  SECTION("it is ended by a signal") {
    old.kill(11);
  }
  SECTION("it is late") {}

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.number("generation") == 3);
  CHECK(welcome.object("failure").text("id") == "u1");
  CHECK(welcome.object("failure").text("stage") == "stop");
  back.ready();
  const Json activate = back.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
  CHECK(world.agents_started() == (mode == "parallel" ? 3 : 2));
  old.expect_gone();
}

TEST_CASE("unclean, continue: the candidate is activated, and told that it was not clean") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world({"--trial=0"});
  Puppet old = world.first();
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode) + R"(,"on_unclean_stop":"continue",)" +
                                R"("stop_timeout_ms":300)");
  old.expect("accepted");
  Puppet next = old;
  if (mode == "parallel") next = world.candidate();
  if (mode == "parallel") next.ready();
  old.expect("stop");

  SECTION("it exits with status 0") {
    old.exit(0);
  }
  SECTION("it is ended by a signal") {
    old.kill(11);
  }
  SECTION("it is late") {}

  if (mode == "sequential") next = world.candidate();
  if (mode == "sequential") next.ready();
  const Json activate = next.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
  CHECK(next.expect("committed").text("id") == "u1");
  old.expect_gone();
}

TEST_CASE("the policy of an upgrade that does not say is the option's") {
  World world({"--on-unclean-stop=continue", "--trial=0"});
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);

  old.exit(0);

  CHECK_FALSE(next.expect("activate").boolean("clean"));
}

TEST_CASE("an unclean stop after the candidate was lost falls back, whatever the policy") {
  const std::string policy = GENERATE("fallback", "continue");
  World world({"--on-unclean-stop=" + policy});
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old);
  next.exit(3);
  old.expect("candidate_lost");

  old.exit(0);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("stage") == "start");
  back.ready();
  CHECK_FALSE(back.expect("activate").boolean("clean"));
}

TEST_CASE("a candidate that fails after an unclean stop that was carried on leaves a fallback") {
  World world({"--mode=sequential", "--on-unclean-stop=continue"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");
  old.expect("stop");
  old.exit(0);

  world.candidate().exit(3);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("id") == "u1");
  back.ready();
  const Json activate = back.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
}

TEST_CASE("the deeds of an agent before its deadline count, however late they are seen") {
  World world;
  Puppet old = world.first();
  Puppet next = world.stop_for_upgrade(old, R"("stop_timeout_ms":300)");

  world.freeze();
  old.say_type("stopped");
  world.pass(400);
  world.thaw();

  old.say_type("status", R"("text":"alive")");
  world.wait_for_log("alive");
  old.exit(0);
  CHECK(next.expect("activate").boolean("clean"));
}

TEST_CASE("a candidate that became ready before its time was up is not late") {
  World world;
  Puppet old = world.first();
  old.request_upgrade("u1", R"("start_timeout_ms":1500)");
  old.expect("accepted");
  Puppet next = world.candidate();

  world.freeze();
  next.ready();
  world.pass(1600);
  world.thaw();

  CHECK(old.expect("stop").text("reason") == "upgrade");
}

}  // namespace failures_test
