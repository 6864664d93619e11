// Tests --lock: at most one agent is active, even if the upgrader dies. See upgrader(8).
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace lock_test {

using namespace integration;

namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

bool is_locked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(fd >= 0);
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  return locked;
}

}  // namespace

TEST_CASE("the lock's file is locked, and holds the upgrader's pid and start time") {
  World world{World::Later()};
  Upgrader& upgrader = world.start({"--lock=" + world.path("lock")});
  world.first();

  CHECK(is_locked(world.path("lock")));
  CHECK(trimmed(world.read("lock")) ==
        std::to_string(upgrader.pid()) + " " + start_time_of(upgrader.pid()));
}

TEST_CASE("the earlier text of the lock's file is gone") {
  World world{World::Later()};
  world.write("lock", "4194304 99999999999999999999", 0600);
  Upgrader& upgrader = world.start({"--lock=" + world.path("lock")});
  world.first();

  CHECK(trimmed(world.read("lock")) ==
        std::to_string(upgrader.pid()) + " " + start_time_of(upgrader.pid()));
}

TEST_CASE("SIGUSR2 while the lock is waited for is answered with what will be started") {
  World world{World::Later()};
  Upgrader& one = world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  const std::string agent = world.install("agent");
  world.start(
      Start{.options = {"--lock=" + world.path("lock"), "--lock-timeout=1h"}, .agent = agent});
  world.wait_for_log("waiting for");

  world.signal(SIGUSR2);

  world.wait_for_log("SIGUSR2 while " + world.path("lock") + " is waited for: ");
  world.wait_for_log(" will be started");
  CHECK(world.agents_started() == 1);
  REQUIRE(rename(agent.c_str(), (agent + ".gone").c_str()) == 0);
  world.signal(SIGUSR2);
  world.wait_for_log("is waited for: " + agent + ": No such file");
  const std::string log = world.log();
  CHECK(log.find("No such file") > log.rfind(" will be started"));
  REQUIRE(rename((agent + ".gone").c_str(), agent.c_str()) == 0);
  first.exit(0);
  world.wait_until([&] { return !one.running(); }, "the end of the first upgrader");
  world.first();
}

TEST_CASE("the lock is free when the upgrader and its agents have gone") {
  World world{World::Later()};
  world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  first.exit(0);
  world.expect_exit(0);

  CHECK_FALSE(is_locked(world.path("lock")));
  world.start({"--lock=" + world.path("lock"), "--lock-timeout=1ms"});
  world.first();
}

TEST_CASE("a second upgrader waits for the lock, and goes on when it gets it") {
  const std::string timeout = GENERATE("1h", "0");
  World world{World::Later()};
  Upgrader& one = world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  Upgrader& two = world.start({"--lock=" + world.path("lock"), "--lock-timeout=" + timeout});
  world.pass(100);
  CHECK(world.agents_started() == 1);

  first.exit(0);
  world.wait_until([&] { return !one.running(); }, "the end of the first upgrader");

  world.first();
  CHECK(trimmed(world.read("lock")) == std::to_string(two.pid()) + " " + start_time_of(two.pid()));
}

TEST_CASE("a second upgrader says at once who holds the lock") {
  World world{World::Later()};
  Upgrader& one = world.start({"--lock=" + world.path("lock")});
  world.first();

  world.start({"--lock=" + world.path("lock"), "--lock-timeout=1h"});

  world.wait_for_log("waiting for " + world.path("lock") + ": process " +
                     std::to_string(one.pid()) + " (");
  CHECK(world.log().find(") holds it") != std::string::npos);
}

TEST_CASE("a second upgrader that waits in vain says who holds the lock, and exits with 125") {
  World world{World::Later()};
  Upgrader& one = world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();

  SECTION("after its lock timeout") {
    world.start({"--lock=" + world.path("lock"), "--lock-timeout=100ms"});
  }
  SECTION("which is the stop timeout and the exit grace together, if it is not said") {
    world.start({"--lock=" + world.path("lock"), "--stop-timeout=50ms", "--exit-grace=50ms"});
  }

  world.expect_exit(125);
  CHECK(world.log().find(std::to_string(one.pid())) != std::string::npos);
  CHECK(world.agents_started() == 1);
  first.expect_silence();
}

TEST_CASE("an agent that outlives its upgrader keeps the lock until it has gone") {
  World world{World::Later()};
  Upgrader& one = world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  world.signal(SIGKILL);
  world.expect_killed(SIGKILL);
  first.expect_end_of_input();

  SECTION("the next upgrader waits for it") {
    world.start({"--lock=" + world.path("lock")});
    world.pass(100);
    CHECK(world.agents_started() == 1);
    first.exit(0);
    Puppet second = world.first();
    CHECK(second.argv() == first.argv());
  }
  SECTION("or says that an agent of the one before still holds it") {
    world.start({"--lock=" + world.path("lock"), "--lock-timeout=100ms"});
    world.expect_exit(125);
    CHECK(world.log().find(std::to_string(one.pid())) != std::string::npos);
    CHECK(world.log().find("agent") != std::string::npos);
  }
}

TEST_CASE("an agent that holds the lock after its upgrader is named, at once and when time is up") {
  World world{World::Later()};
  world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  world.signal(SIGKILL);
  world.expect_killed(SIGKILL);

  world.start({"--lock=" + world.path("lock"), "--lock-timeout=100ms"});

  world.expect_exit(125);
  const std::string words = "still holds it: process " + std::to_string(first.pid()) + " (";
  const std::size_t waiting = world.log().find(words);
  REQUIRE(waiting != std::string::npos);
  CHECK(world.log().find(words, waiting + 1) != std::string::npos);
}

TEST_CASE("a candidate that outlives its upgrader keeps the lock, too") {
  World world{World::Later()};
  world.start({"--lock=" + world.path("lock")});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);
  world.signal(SIGKILL);
  world.expect_killed(SIGKILL);

  old.exit(0);
  next.expect_end_of_input();

  CHECK(is_locked(world.path("lock")));
  next.exit(0);
  world.wait_until([&] { return !is_locked(world.path("lock")); }, "the lock to be free");
}

TEST_CASE("SIGTERM or SIGINT while it waits for the lock: 0") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  World world{World::Later()};
  Upgrader& one = world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  Upgrader& two = world.start({"--lock=" + world.path("lock"), "--lock-timeout=1h"});
  // The second upgrader opens the lock file, and then waits for the lock. Waits until it has opened
  // the file.
  world.wait_until(
      [&] {
        for (const int fd : descriptors_of(two.pid())) {
          char target[4096] = {};
          const std::string link =
              "/proc/" + std::to_string(two.pid()) + "/fd/" + std::to_string(fd);
          if (readlink(link.c_str(), target, sizeof target - 1) > 0 &&
              target == world.path("lock")) {
            return true;
          }
        }
        return false;
      },
      "the second upgrader to wait");

  world.signal(signal);

  world.expect_exit(0);
  CHECK(one.running());
  CHECK(world.agents_started() == 1);
  first.expect_silence();
}

TEST_CASE("a file that is not a lock's is refused, and nothing of it is changed") {
  World world{World::Later()};
  std::string reason = "it holds what no lock has written";
  std::string file = world.path("lock");
  SECTION("a configuration") {
    world.write("lock", "user = nobody\n", 0644);
  }
  SECTION("the numbers of a lock, and more") {
    world.write("lock", "4194304 99999999999999999999 and more", 0600);
  }
  SECTION("a link") {
    world.write("target", "", 0600);
    file = world.path("link");
    REQUIRE(symlink("target", file.c_str()) == 0);
    reason = "it is a symbolic link";
  }
  SECTION("a named pipe") {
    file = world.path("pipe");
    REQUIRE(mkfifo(file.c_str(), 0600) == 0);
    reason = "it is no regular file";
  }
  const std::string before = file == world.path("lock") ? world.read("lock") : "";

  world.start({"--lock=" + file});

  world.expect_exit(125);
  CHECK(world.log().find("cannot lock " + file + ": " + reason) != std::string::npos);
  CHECK(world.agents_started() == 0);
  if (file == world.path("lock")) CHECK(world.read("lock") == before);
  if (file == world.path("link")) CHECK(world.read("target").empty());
}

TEST_CASE("a lock that cannot be had at all: 125") {
  World world{World::Later()};
  REQUIRE(mkdir(world.path("directory").c_str(), 0755) == 0);

  SECTION("no such directory") {
    world.start({"--lock=" + world.path("missing/lock")});
  }
  SECTION("a directory") {
    world.start({"--lock=" + world.path("directory")});
  }

  world.expect_exit(125);
  CHECK_FALSE(world.log().empty());
  CHECK(world.agents_started() == 0);
}

}  // namespace lock_test
