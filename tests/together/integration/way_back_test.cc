// Tests that a fallback runs the very file that ran before: see UPGRADES in agent-protocol(7).
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace way_back_test {

using namespace integration;

namespace {

// Returns the inode of the program that a process runs, even if the program's file has been
// deleted.
ino_t program_of(const Puppet& agent) {
  struct stat status {};
  REQUIRE(stat(("/proc/" + std::to_string(agent.pid()) + "/exe").c_str(), &status) == 0);
  return status.st_ino;
}

// Upgrades to a puppet that fails on trial, and returns the fallback. Calls `meanwhile` when the
// old agent has gone.
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
  second.ready();
  first.stop_cleanly();
  second.expect("activate");
  second.expect("committed");
  const ino_t program = program_of(second);
  unlink(copy.c_str());
  second.request_upgrade("u2", R"("trial_ms":60000)");
  second.expect("accepted");
  Puppet third = world.candidate();
  third.ready();
  second.stop_cleanly();
  third.expect("activate");

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

}  // namespace way_back_test
