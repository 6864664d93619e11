// Uses strace, if the machine permits it, to test that an upgrader at rest makes no system call.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace rest_test {

using namespace integration;

namespace {

// A running strace that is attached to a process and all threads of this process.
class Strace {
 public:
  Strace(World& world, pid_t traced) : world_(world) {
    const std::string trace = world.path("trace");
    const std::string messages = world.path("strace");
    const std::string target = std::to_string(traced);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      execlp("strace", "strace", "-f", "-o", trace.c_str(), "-p", target.c_str(), nullptr);
      _exit(127);
    }
    world.wait_until(
        [&] { return world.read("strace").find(" attached") != std::string::npos || ended(); },
        "strace to be attached");
  }
  ~Strace() { stop(); }
  Strace(const Strace&) = delete;
  Strace& operator=(const Strace&) = delete;

  [[nodiscard]] bool attached() { return !ended(); }

  // Ends strace. Returns the system calls that began or ended while strace was attached. Leaves out
  // a call that began before strace was attached and has not ended.
  std::string stop() {
    if (!ended()) {
      kill(pid_, SIGINT);
      world_.wait_until([&] { return ended(); }, "the end of strace");
    }
    std::string calls;
    std::istringstream lines(world_.read("trace"));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("<detached ...>") == std::string::npos) calls += line + "\n";
    }
    return calls;
  }

 private:
  bool ended() {
    if (!ended_) ended_ = waitpid(pid_, nullptr, WNOHANG) == pid_;
    return ended_;
  }

  World& world_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

void watch(World& world, int ms) {
  Strace strace(world, world.upgrader().pid());
  if (!strace.attached()) {
    std::printf("skipped: strace may not be attached here: %s", world.read("strace").c_str());
    return;
  }
  world.pass(ms);
  CHECK(strace.stop() == "");
}

}  // namespace

TEST_CASE("an upgrader at rest makes no system call") {
  World world({"--trial=50ms"});
  Puppet active = world.first();

  SECTION("beside its first agent") {}
  SECTION("after an upgrade") {
    active = world.hand_over(active);
    active.expect("committed");
  }
  SECTION("after an upgrade that has failed") {
    Puppet next = world.begin_upgrade(active);
    next.exit(3);
    active.expect("upgrade_failed");
    next.expect_gone();
  }
  active.expect_silence();
  world.pass(1'100);  // lets the upgrader write delayed log lines before strace starts

  watch(world, 500);
}

TEST_CASE("an upgrader at rest with a control directory makes no system call") {
  World world{World::Later()};
  world.start({"--control=" + world.path("control")});
  Puppet active = world.first();
  active.expect_silence();
  world.pass(1'100);

  watch(world, 500);
}

TEST_CASE("an upgrader at rest makes no system call in ten seconds", "[.long]") {
  World world{World::Later()};
  world.start({"--control=" + world.path("control")});
  Puppet active = world.first();
  active.expect_silence();
  world.pass(1'100);

  watch(world, 9'500);
}

TEST_CASE("the watch sees an upgrader that is not at rest") {
  World world;
  Puppet active = world.first();
  active.expect_silence();
  Strace strace(world, world.upgrader().pid());
  if (!strace.attached()) return;

  active.expect_silence();

  CHECK(strace.stop().find("question") != std::string::npos);
}

}  // namespace rest_test
