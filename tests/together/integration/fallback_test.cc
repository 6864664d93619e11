// Tests parallel and sequential upgrades whose new version fails on trial: see FAILURES, UPGRADES
// and Warm fallback in agent-protocol(7). The upgrader starts the previous version again, as a
// fallback. The fallback must run the same file as before the upgrade, even if that file has been
// deleted. With --fallback=warm, the upgrader starts the fallback when the trial begins, and the
// fallback waits during the trial.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace fallback_test {

using namespace integration;

// ---- agents that fail on trial

namespace {

// Begins an upgrade, and waits until the new agent is on trial. Returns the new agent. The old
// agent has exited.
Puppet reach_trial(World& world, Puppet old, const std::string& mode) {
  old.request_upgrade("u1", "\"mode\":" + json_quoted(mode));
  old.expect("accepted");
  if (mode == "sequential") old.stop_cleanly(R"("state":"from old")");
  Puppet next = world.candidate();
  next.ready();
  if (mode == "parallel") old.stop_cleanly(R"("state":"from old")");
  next.expect("activate");
  return next;
}

}  // namespace

TEST_CASE("an agent on trial that exits is fallen back from") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, mode);
  const int status = GENERATE(0, 3);

  next.exit(status);

  Puppet back = world.agent();
  const Json welcome = back.hello();
  CHECK(welcome.text("role") == "fallback");
  CHECK(welcome.object("failure").text("stage") == "trial");
  CHECK(welcome.object("failure").number("exit_status") == status);
  back.ready();
  const Json activate = back.expect("activate");
  CHECK_FALSE(activate.boolean("clean"));
  CHECK_FALSE(activate.has("state"));
}

TEST_CASE("an agent on trial that still runs gets stop, and after its time SIGKILL") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, mode);

  next.say_type("unfit", R"("reason":"corrupt")");
  const Json stop = next.expect("stop");
  CHECK(stop.text("reason") == "rollback");
  CHECK(stop.members() == Texts{"deadline_ms", "reason"});
  next.say_type("stopped", R"("state":"from next")");
  next.exit(0);

  Puppet back = world.agent();
  CHECK(back.hello().object("failure").text("stage") == "trial");
  back.ready();
  const Json activate = back.expect("activate");
  CHECK(activate.boolean("clean"));
  CHECK(activate.text("state") == "from next");
}

TEST_CASE("an agent on trial that does not stop in time is killed and fallen back from") {
  World world({"--stop-timeout=300ms"});
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, "parallel");

  next.say_type("unfit", R"("reason":"corrupt")");
  next.expect("stop");

  Puppet back = world.fallback();
  next.expect_gone();
  back.expect_silence();
}

TEST_CASE("a fallback that cannot start either leaves it to init: 125") {
  const std::string mode = GENERATE("parallel", "sequential");
  World world;
  Puppet old = world.first();
  Puppet next = reach_trial(world, old, mode);
  next.exit(1);
  Puppet back = world.agent();

  SECTION("it exits") {
    back.exit(0);
  }
  SECTION("it is unfit") {
    back.hello();
    back.say_type("unfit", R"("reason":"no")");
  }
  SECTION("it closes its output") {
    back.close_output();
  }

  world.expect_exit(125);
  CHECK(world.agents_started() == 3);
}

// ---- the file that a fallback runs

namespace {

// Returns the inode of the program that a process runs, even if the program's file has been
// deleted.
ino_t program_of(const Puppet& agent) {
  struct stat status {};
  REQUIRE(stat(("/proc/" + std::to_string(agent.pid()) + "/exe").c_str(), &status) == 0);
  return status.st_ino;
}

// Upgrades to a puppet (fake agent), calls `meanwhile` after the old agent has exited, and then
// makes the puppet fail on trial. Returns the fallback that the upgrader has started.
Puppet fall_back(World& world, Puppet old, const std::function<void()>& meanwhile) {
  Puppet next = world.hand_over(old);
  meanwhile();
  next.exit(1);
  return world.fallback();
}

}  // namespace

TEST_CASE("a fallback runs the very file that it ran before") {
  World world{World::Later()};
  const std::string agent = world.install("agent");
  world.start({.agent = agent, .args = {"a", "b"}});
  Puppet first = world.first();
  const ino_t program = program_of(first);
  std::function<void()> change;

  SECTION("nothing has changed") {
    change = [] {};
  }
  SECTION("it was deleted") {
    change = [&] { unlink(agent.c_str()); };
  }
  SECTION("it was replaced by another program") {
    change = [&] {
      world.write("new", "#!/bin/false\n");
      rename(world.path("new").c_str(), agent.c_str());
    };
  }
  SECTION("it was moved") {
    change = [&] { rename(agent.c_str(), world.path("moved").c_str()); };
  }

  const Puppet back = fall_back(world, first, change);

  CHECK(program_of(back) == program);
  CHECK(back.argv() == Texts{agent, "a", "b"});
}

TEST_CASE(
    "a fallback runs the old file even if the file was removed or replaced before the upgrade") {
  World world{World::Later()};
  const std::string agent = world.install("agent");
  world.start({.agent = agent});
  Puppet first = world.first();
  const ino_t program = program_of(first);
  unlink(agent.c_str());
  world.write("agent", "#!/bin/false\n");

  const Puppet back = fall_back(world, first, [] {});

  CHECK(program_of(back) == program);
}

TEST_CASE("a link that has changed does not take the way back away") {
  World world{World::Later()};
  const std::string one = world.install("one");
  const std::string two = world.install("two");
  const std::string link = world.path("current");
  REQUIRE(symlink("one", link.c_str()) == 0);
  world.start({.agent = link});
  Puppet first = world.first();
  const ino_t program = program_of(first);

  const Puppet back = fall_back(world, first, [&] {
    unlink(link.c_str());
    REQUIRE(symlink("two", link.c_str()) == 0);
  });

  CHECK(program_of(back) == program);
  CHECK(back.argv() == Texts{link});
}

TEST_CASE("the fallback of a committed agent is that agent's own file") {
  World world{World::Later()};
  const std::string copy = world.install("copy");
  world.start({"--trial=0"});
  Puppet first = world.first();
  first.request_upgrade("u1", "", copy);
  first.expect("accepted");
  Puppet second = world.candidate();
  hand_over(first, second);
  second.expect("committed");
  const ino_t program = program_of(second);
  unlink(copy.c_str());
  second.request_upgrade("u2", R"("trial_ms":60000)");
  second.expect("accepted");
  Puppet third = world.candidate();
  hand_over(second, third);

  third.exit(1);

  const Puppet back = world.fallback();
  CHECK(program_of(back) == program);
  CHECK(back.argv() == Texts{copy});
}

TEST_CASE("a fallback may be fallen back to again, though its file is gone") {
  World world{World::Later()};
  const std::string agent = world.install("agent");
  world.start({.agent = agent});
  Puppet first = world.first();
  const ino_t program = program_of(first);
  unlink(agent.c_str());
  Puppet back = fall_back(world, first, [] {});

  back = fall_back(world, back, [] {});

  CHECK(program_of(back) == program);
}

TEST_CASE("an upgrade away from a script whose path names another file is refused") {
  World world{World::Later()};
  const std::string script = world.install_script("script");
  world.start({.agent = script});
  Puppet first = world.first();

  SECTION("it was deleted") {
    unlink(script.c_str());
  }
  SECTION("it was replaced") {
    world.install_script("new");
    rename(world.path("new").c_str(), script.c_str());
  }

  first.request_upgrade("u1");

  const Json failed = first.expect("upgrade_failed");
  CHECK(failed.text("stage") == "request");
  CHECK(failed.text("reason").find("nothing to go back to") != std::string::npos);
  first.expect_silence();
  CHECK(world.agents_started() == 1);
}

TEST_CASE("a fallback script whose path changes later cannot start: 125") {
  World world{World::Later()};
  const std::string script = world.install_script("script");
  world.start({.agent = script});
  Puppet first = world.first();
  Puppet next = world.hand_over(first);

  SECTION("it was deleted") {
    unlink(script.c_str());
  }
  SECTION("it was replaced") {
    world.install_script("new");
    rename(world.path("new").c_str(), script.c_str());
  }
  next.exit(1);

  world.expect_exit(125);
  CHECK(world.agents_started() == 2);
}

TEST_CASE("a script that stays where it was is fallen back to") {
  World world{World::Later()};
  const std::string script = world.install_script("script");
  world.start({.agent = script, .args = {"x"}});
  Puppet first = world.first();

  const Puppet back = fall_back(world, first, [] {});

  CHECK(back.argv() == Texts{World::puppet(), script, "x"});
}

TEST_CASE("an agent's program is shown by its own name in the process table") {
  World world{World::Later()};
  const std::string agent = world.install("my-agent");
  world.start({.agent = agent});

  const Puppet first = world.first();

  CHECK(read_file("/proc/" + std::to_string(first.pid()) + "/comm") == "my-agent\n");
}

// ---- a fallback that waits during the trial (a standby)

namespace {

// An upgrade on trial: the new agent is active, the old agent has exited, and the standby (a
// fallback that waits in case the trial fails) has been started.
struct Trial {
  Puppet next;
  Puppet standby;
};

Trial reach_warm_trial(World& world, Puppet old, const std::string& members = "") {
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
  Trial trial = reach_warm_trial(world, world.first());
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
  Trial trial = reach_warm_trial(world, world.first(), R"("fallback":"warm")");
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
  Trial trial = reach_warm_trial(world, world.first());
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
  Trial trial = reach_warm_trial(world, world.first());
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
  Trial trial = reach_warm_trial(world, world.first());
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
  hand_over(old, next);
  next.expect("committed");

  next.request_upgrade("u2", "");

  // Each process of the agent gets the next number, its generation. The first upgrade has no trial,
  // so the upgrader must not start a standby (a waiting fallback), which would have got number 3.
  CHECK(next.expect("accepted").number("generation") == 3);
}

}  // namespace fallback_test
