// Tests SIGQUIT, SIGHUP, SIGUSR1 and SIGUSR2 to the upgrader: see SIGNALS in upgrader(8). Also
// tests signals that come while the upgrader starts. From the first system call of main() on, the
// kernel's default action for a handled signal must not end the upgrader. An earlier signal does
// end it: see CAVEATS in upgrader(8). SIGTERM and SIGINT are in shutdown_test.cc.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/together/integration/sanitizer.h"
#include "tests/together/integration/world.h"

namespace signals_test {

using namespace integration;

TEST_CASE("SIGQUIT kills all at once, and the upgrader exits with 131") {
  World world;
  Puppet first = world.agent();
  Puppet other = first;

  SECTION("a first agent that is held") {}
  SECTION("an active one") {
    first.hello();
    first.ready();
    first.expect("activate");
  }
  SECTION("an active one and a candidate") {
    first.hello();
    first.ready();
    first.expect("activate");
    other = world.begin_upgrade(first);
  }
  SECTION("one that is being shut down") {
    first.hello();
    first.ready();
    first.expect("activate");
    world.signal(SIGTERM);
    first.expect("stop");
  }

  world.signal(SIGQUIT);

  world.expect_exit(131);
  first.expect_gone();
  other.expect_gone();
}

TEST_CASE("SIGHUP and SIGUSR1 are passed on to the active agent only") {
  const int signal = GENERATE(SIGHUP, SIGUSR1);
  World world;
  Puppet active = world.first();
  Puppet next = world.begin_upgrade(active);
  active.catch_signal(signal);
  next.catch_signal(signal);

  world.signal(signal);

  CHECK(active.expect_signal() == signal);
  next.expect_silence();
  CHECK_FALSE(next.has_signal());
  next.ready();
  active.stop_cleanly();
  next.expect("activate");
  world.signal(signal);
  CHECK(next.expect_signal() == signal);
}

TEST_CASE("SIGIO, which an agent can have the kernel send, ends nobody") {
  World world;
  Puppet old = world.first();

  world.signal(SIGIO);

  world.hand_over(old);
}

TEST_CASE("SIGHUP and SIGUSR1 are dropped where no agent is active") {
  const int signal = GENERATE(SIGHUP, SIGUSR1);
  World world;
  Puppet first = world.agent();
  first.hello();

  world.signal(signal);
  // The upgrader handles `signal` before SIGUSR2. So it has handled both when it logs `busy`, its
  // answer to SIGUSR2.
  world.signal(SIGUSR2);
  world.wait_for_log("busy");

  first.expect_silence();  // this check would fail if the agent or the upgrader had exited
  first.ready();
  first.expect("activate");
}

TEST_CASE(
    "SIGUSR2 asks for an upgrade to what AGENT now names, with the command line's arguments") {
  World world{World::Later()};
  const std::string one = world.install("agent-1");
  const std::string two = world.install("agent-2");
  const std::string link = world.path("current");
  REQUIRE(symlink("agent-1", link.c_str()) == 0);
  world.start({.options = {"--trial=0"}, .agent = link, .args = {"a", "b"}});
  Puppet first = world.first();
  unlink(link.c_str());
  REQUIRE(symlink("agent-2", link.c_str()) == 0);

  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  first.expect_silence();  // `accepted` is not sent: only the log reports the upgrade
  CHECK(world.log().find("sigusr2-1") != std::string::npos);
  next.ready();
  const Json stop = first.stop_cleanly();
  next.expect("activate");

  CHECK(stop.text("id") == "sigusr2-1");
  CHECK(stop.text("reason") == "upgrade");
  CHECK(next.expect("committed").text("id") == "sigusr2-1");
  CHECK(next.argv() == Texts{link, "a", "b"});
}

TEST_CASE("SIGUSR2 takes the command line's arguments, not those of the active agent") {
  World world(Start{.options = {"--trial=0"}, .args = {"given"}});
  Puppet first = world.first();
  Puppet second = world.hand_over(first, R"("args":["asked"])");
  second.expect("committed");
  CHECK(second.argv() == Texts{World::puppet(), "asked"});

  world.signal(SIGUSR2);

  CHECK(world.candidate().argv() == Texts{World::puppet(), "given"});
}

TEST_CASE("SIGUSR2 takes the upgrader's own options") {
  World world({"--mode=sequential", "--stop-timeout=20s"});
  Puppet first = world.first();

  world.signal(SIGUSR2);

  const Json stop = first.stop_cleanly();
  CHECK(stop.number("deadline_ms") <= 20'000);
  world.candidate();
}

TEST_CASE("such signals are counted, those that begin no upgrade included") {
  World world;
  Puppet first = world.first();
  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  world.signal(SIGUSR2);
  world.wait_for_log("busy");
  next.exit(1);
  next.expect_gone();
  world.wait_for_log("sigusr2-1");

  // The agent does not know the upgrade's id, so only the log reports the failure.
  first.expect_silence();
  world.signal(SIGUSR2);
  world.candidate().ready();

  CHECK(first.expect("stop").text("id") == "sigusr2-3");
}

TEST_CASE("an agent that was told the id by a stop hears how a SIGUSR2 upgrade fails") {
  World world;
  Puppet first = world.first();
  world.signal(SIGUSR2);
  world.candidate().ready();
  first.expect("stop");

  first.say_type("cancel", R"("id":"sigusr2-1")");

  const Json failed = first.expect("upgrade_failed");
  CHECK(failed.text("id") == "sigusr2-1");
  CHECK(failed.text("stage") == "cancel");
}

TEST_CASE("a shutdown tells an agent of a SIGUSR2 upgrade only if it was told to stop for it") {
  World world;
  Puppet first = world.first();
  world.signal(SIGUSR2);
  Puppet next = world.candidate();

  SECTION("it knows of none") {
    world.signal(SIGTERM);
    CHECK(first.stop_cleanly().text("reason") == "shutdown");
  }
  SECTION("it knows") {
    next.ready();
    first.expect("stop");
    world.signal(SIGTERM);
    CHECK(first.expect("upgrade_failed").text("id") == "sigusr2-1");
    first.say_type("stopped");
    first.exit(0);
  }

  world.expect_exit(0);
}

TEST_CASE("a request while a SIGUSR2 upgrade is under way is busy, and the other way round") {
  World world;
  Puppet first = world.first();
  world.signal(SIGUSR2);
  Puppet next = world.candidate();

  first.request_upgrade("u1");

  const Json failed = first.expect("upgrade_failed");
  CHECK(failed.text("stage") == "request");
  CHECK(failed.text("reason").starts_with("busy"));
}

TEST_CASE("SIGUSR2 where no upgrade can begin is logged as busy") {
  World world;
  Puppet first = world.agent();

  SECTION("a first agent that is held") {
    world.signal(SIGUSR2);
    world.wait_for_log("busy");
    first.hello();
    first.ready();
    first.expect("activate");
  }
  SECTION("an agent on trial") {
    first.hello();
    first.ready();
    first.expect("activate");
    Puppet next = world.hand_over(first);
    world.signal(SIGUSR2);
    world.wait_for_log("busy");
    next.expect_silence();
  }
  SECTION("a shutdown") {
    first.hello();
    first.ready();
    first.expect("activate");
    world.signal(SIGTERM);
    first.expect("stop");
    world.signal(SIGUSR2);
    world.wait_for_log("busy");
    first.expect_silence();
  }
}

TEST_CASE("SIGUSR2 to an AGENT that is not there any more changes nothing") {
  World world{World::Later()};
  const std::string agent = world.install("agent");
  world.start({.agent = agent});
  Puppet first = world.first();
  unlink(agent.c_str());

  world.signal(SIGUSR2);

  world.wait_for_log("sigusr2-1");
  first.expect_silence();
  CHECK(world.agents_started() == 1);
}

// ---- signals that come while the upgrader starts

namespace {

// An upgrader that only prints its version. The test traces this process from its first
// instruction.
class Traced {
 public:
  Traced() : environment_(environment_without_leak_check()), pid_(fork()) {
    if (pid_ == 0) {
      for (std::string& setting : environment_)
        putenv(setting.data());
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      execl(World::program().c_str(), "upgrader", "--version", nullptr);
      _exit(127);
    }
    waitpid(pid_, &status_, 0);
    constexpr long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;
    REQUIRE(WIFSTOPPED(status_));
    REQUIRE(ptrace(PTRACE_SETOPTIONS, pid_, nullptr, options) == 0);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() {
    if (!WIFSTOPPED(status_)) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  // Lets the upgrader run until it begins its next system call. Signals that come before that are
  // delivered to the upgrader. Returns false if the upgrader has exited.
  bool go_on() {
    for (;;) {
      const int stopped_by = WSTOPSIG(status_);
      const bool by_signal = stopped_by != SIGTRAP && stopped_by != (SIGTRAP | 0x80);
      ptrace(PTRACE_SYSCALL, pid_, nullptr, by_signal ? stopped_by : 0);
      waitpid(pid_, &status_, 0);
      if (!WIFSTOPPED(status_)) return false;
      ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof call_, &call_);
      if (call_.op == PTRACE_SYSCALL_INFO_ENTRY) return true;
    }
  }

  // Returns whether the current system call is the first call of main(), which is a fcntl() that
  // finds out whether descriptor 0 is open.
  [[nodiscard]] bool is_at_main() const {
    return call_.entry.nr == SYS_fcntl && call_.entry.args[0] == 0 &&
           call_.entry.args[1] == F_GETFD;
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  std::vector<std::string> environment_;
  pid_t pid_;
  int status_ = 0;
  __ptrace_syscall_info call_{};
};

}  // namespace

TEST_CASE("a signal that comes before main() has done anything does not end the upgrader") {
  const int number = GENERATE(SIGUSR2, SIGUSR1, SIGHUP, SIGTERM, SIGINT, SIGQUIT);
  Traced upgrader;
  while (upgrader.go_on() && !upgrader.is_at_main()) {
  }
  REQUIRE(upgrader.is_at_main());

  kill(upgrader.pid(), number);
  while (upgrader.go_on()) {
  }

  CHECK(WIFEXITED(upgrader.status()));
  CHECK(WEXITSTATUS(upgrader.status()) == 0);
}

}  // namespace signals_test
