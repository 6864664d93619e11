// Tests that fixed bugs of the code in upgrader/shell do not come back. Uses the real upgrader.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/together/integration/releases.h"
#include "tests/together/integration/world.h"

namespace shell_test {

using namespace integration;

TEST_CASE("a log file at its limit costs log lines, not the agent") {
  constexpr off_t limit = 1 << 14;
  World world(Start{.before_exec = [] {
    // `limit` is the limit for the size of files. The log file has this size from the start, so
    // every line of the log exceeds the limit. All other files stay far below it.
    REQUIRE(::ftruncate(STDERR_FILENO, limit) == 0);
    const rlimit bounded{.rlim_cur = limit, .rlim_max = limit};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &bounded) == 0);
  }});
  Puppet active = world.first();

  world.signal(SIGUSR2);
  Puppet next = world.candidate();

  hand_over(active, next);
  CHECK(world.log().size() == static_cast<std::size_t>(limit));
}

TEST_CASE("signals that come all the time do not put off the end of the wait for the lock") {
  World world{World::Later()};
  world.start({"--lock=" + world.path("lock")});
  Puppet first = world.first();
  Upgrader& waiting = world.start({"--lock=" + world.path("lock"), "--lock-timeout=100ms"});
  world.wait_for_log("waiting for");

  world.wait_until(
      [&] {
        ::kill(waiting.pid(), SIGHUP);
        return !waiting.running();
      },
      "the end of the wait");

  CHECK(waiting.ending() == "exit status 125");
  const std::string log = waiting.log();
  CHECK(log.find("waiting for") == log.rfind("waiting for"));
  first.expect_silence();
}

TEST_CASE("an upgrader that waits for the lock leaves the holder's link alone") {
  World world{World::Later()};
  const std::string lock = "--lock=" + world.path("lock");
  const Releases releases(world, {lock});
  Puppet old = world.first();
  world.start(Start{.options = {"--relink", lock}, .agent = releases.link});
  world.wait_for_log("waiting for");
  Puppet next = begin_upgrade_to(world, old, releases.two);
  hand_over(old, next);
  next.expect("committed");

  world.signal(SIGUSR2);
  world.wait_for_log("will be started");

  CHECK(target_of(releases.link) == "two");
}

TEST_CASE("the lock keeps its descriptor when the log opens one of its own") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  World world{World::Later()};
  world.start(Start{.options = {"--lock=" + world.path("lock")}, .before_exec = [&] {
                      REQUIRE(::dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
                    }});
  world.first();

  const std::string holder = world.read("lock");

  CHECK(holder.starts_with(std::to_string(world.upgrader().pid()) + " "));
  CHECK(holder.find('\n') == holder.size() - 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a child that the upgrader was given is reaped, and is no agent's end") {
  int release[2];
  REQUIRE(::pipe2(release, O_CLOEXEC) == 0);
  World world(Start{.before_exec = [&] {
    if (::fork() != 0) return;
    char byte;
    ::close(release[1]);
    while (::read(release[0], &byte, 1) > 0) {
    }
    ::_exit(7);
  }});
  Puppet active = world.first();
  const std::string children = "/proc/" + std::to_string(world.upgrader().pid()) + "/task/" +
                               std::to_string(world.upgrader().pid()) + "/children";
  const auto count = [&] {
    std::ifstream file(children);
    return std::distance(std::istream_iterator<int>(file), std::istream_iterator<int>());
  };
  REQUIRE(count() == 2);

  ::close(release[0]);
  ::close(release[1]);

  world.wait_until([&] { return count() == 1; }, "the stranger is reaped");
  active.expect_silence();
}

TEST_CASE("a refusal at start ends the upgrader with its status, not by its own check") {
  World world{World::Later()};

  world.start(Start{.agent = "no-such-agent-anywhere"});

  world.expect_exit(127);
}

TEST_CASE("an agent on trial that exits with its replies unread has exited") {
  World world{World::Later()};
  world.start({"--trial=1h"});
  Puppet old = world.first();
  Puppet next = world.hand_over(old);

  world.freeze();
  next.say(R"({"type":"no-such-type"})");
  next.exit(3);
  world.thaw();

  Puppet fallback = world.agent();
  fallback.say(R"({"type":"hello","protocol":1})");
  const Json welcome = fallback.expect("welcome");
  CHECK(welcome.object("failure").number("exit_status") == 3);
}

}  // namespace shell_test
