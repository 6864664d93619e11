// Tests the upgrader's exit status: see LIFE AND DEATH in agent-protocol(7).
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace exit_status_test {

using namespace integration;

TEST_CASE("the active agent's exit status is the upgrader's") {
  const int status = GENERATE(0, 1, 125, 255);
  World world;
  Puppet first = world.first();

  first.exit(status);

  world.expect_exit(status);
}

TEST_CASE("the active agent's signal is 128 more") {
  const int signal = GENERATE(SIGKILL, SIGSEGV, SIGTERM);
  World world;
  Puppet first = world.first();

  first.kill(signal);

  world.expect_exit(128 + signal);
}

TEST_CASE("an active agent that says stopped unasked gains nothing by it") {
  World world;
  Puppet first = world.first();
  first.say_type("stopped");
  first.expect_error("stopped");

  first.exit(3);

  world.expect_exit(3);
}

TEST_CASE("a first agent that exits while held: likewise, but 125 where its status is 0") {
  World world;
  Puppet first = world.agent();
  const bool greeted = GENERATE(false, true);
  if (greeted) first.hello();

  SECTION("status 0") {
    first.exit(0);
    world.expect_exit(125);
  }
  SECTION("status 7") {
    first.exit(7);
    world.expect_exit(7);
  }
  SECTION("a signal") {
    first.kill(SIGABRT);
    world.expect_exit(128 + SIGABRT);
  }
}

TEST_CASE("a first agent that is unfit, late or closes its output is killed: 125") {
  World world({"--start-timeout=500ms"});
  Puppet first = world.agent();

  SECTION("unfit") {
    first.hello();
    first.say_type("unfit", R"("reason":"the disk is full")");
    world.expect_exit(125);
    CHECK(world.log().find("the disk is full") != std::string::npos);
  }
  SECTION("late") {
    world.expect_exit(125);
  }
  SECTION("closes its output") {
    first.close_output();
    world.expect_exit(125);
  }
  first.expect_gone();
}

TEST_CASE("an AGENT that does not exist: 127") {
  World world{World::Later()};
  world.write("file", "");
  REQUIRE(symlink("nowhere", world.path("dangling").c_str()) == 0);

  SECTION("no such path") {
    world.start({.agent = world.path("missing")});
  }
  SECTION("a link to nowhere") {
    world.start({.agent = world.path("dangling")});
  }
  SECTION("a file where a directory should be") {
    world.start({.agent = world.path("file/x")});
  }
  SECTION("no match in PATH") {
    world.start({.agent = "no-such-agent-anywhere"});
  }

  world.expect_exit(127);
  CHECK_FALSE(world.log().empty());
}

TEST_CASE("an AGENT that cannot be executed for any other reason: 126") {
  World world{World::Later()};
  REQUIRE(mkdir(world.path("directory").c_str(), 0755) == 0);
  REQUIRE(symlink("loop", world.path("loop").c_str()) == 0);
  const std::string header = read_file(World::puppet()).substr(0, 64);

  SECTION("a directory") {
    world.start({.agent = world.path("directory")});
  }
  SECTION("a link to itself") {
    world.start({.agent = world.path("loop")});
  }
  SECTION("not executable") {
    world.start({.agent = world.write("x", "#!/bin/sh\n", 0644)});
  }
  SECTION("empty") {
    world.start({.agent = world.write("x", "")});
  }
  SECTION("text") {
    world.start({.agent = world.write("x", "echo hello\n")});
  }
  SECTION("no interpreter") {
    world.start({.agent = world.write("x", "#!/no/such\n")});
  }
  SECTION("a torn program") {
    world.start({.agent = world.write("x", header)});
  }
  SECTION("a match in PATH that may not be executed") {
    world.write("x", "#!/bin/sh\n", 0644);
    world.start({.agent = "x", .environment = {"PATH=/nowhere:" + world.path(".")}});
  }
  SECTION("a directory in PATH of that name") {
    world.start({.agent = "directory", .environment = {"PATH=" + world.path(".")}});
  }

  world.expect_exit(126);
  CHECK_FALSE(world.log().empty());
}

TEST_CASE("AGENT without a slash is looked up in PATH") {
  World world{World::Later()};
  mkdir(world.path("bin").c_str(), 0755);
  world.install("bin/some-agent");
  world.start({.agent = "some-agent", .environment = {"PATH=/nowhere:" + world.path("bin")}});

  CHECK(world.first().argv() == Texts{"some-agent"});
}

TEST_CASE("an empty PATH, or an empty element of it, is the working directory") {
  World world{World::Later()};
  world.install("some-agent");
  const std::string path = GENERATE("", ":/nowhere", "/nowhere:", "/nowhere::/nowhere");
  const std::string directory = world.path(".");
  world.start({.agent = "some-agent", .environment = {"PATH=" + path}, .before_exec = [&] {
                 if (chdir(directory.c_str()) != 0) _exit(120);
               }});

  CHECK(world.first().argv() == Texts{"some-agent"});
}

TEST_CASE("a fallback that fails: 125, whatever its own status") {
  World world;
  Puppet next = world.hand_over(world.first());
  next.exit(1);

  world.agent().exit(3);

  world.expect_exit(125);
}

TEST_CASE("the status after a committed upgrade is that of the new agent") {
  World world({"--trial=0"});
  Puppet next = world.hand_over(world.first());
  next.expect("committed");

  next.exit(11);

  world.expect_exit(11);
}

TEST_CASE("the status after a fallback is that of the fallback") {
  World world;
  Puppet next = world.hand_over(world.first());
  next.exit(1);
  Puppet back = world.fallback();

  back.exit(12);

  world.expect_exit(12);
}

}  // namespace exit_status_test
