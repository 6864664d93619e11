// Tests that the active agent stays in service if the upgrader runs out of descriptors, or if
// nobody reads the upgrader's log. At most an upgrade fails, or some log lines are lost. The exit
// status of an upgrader that starts with too few descriptors must not blame AGENT: see EXIT STATUS
// in upgrader(8).
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/sanitizer.h"
#include "tests/together/integration/world.h"

namespace resources_test {

using namespace integration;

namespace {

void limit_descriptors(pid_t pid, rlim_t count) {
  const rlimit limit{count, 4'096};
  REQUIRE(prlimit(pid, RLIMIT_NOFILE, &limit, nullptr) == 0);
}

// Returns a limit for descriptors with which a process can open exactly `more` descriptors in
// addition to its currently open descriptors.
rlim_t limit_for(pid_t pid, int more) {
  const std::vector<int> open_now = descriptors_of(pid);
  int limit = 0;
  for (int free = 0;
       free < more || std::find(open_now.begin(), open_now.end(), limit) != open_now.end();
       ++limit) {
    if (std::find(open_now.begin(), open_now.end(), limit) == open_now.end()) ++free;
  }
  return static_cast<rlim_t>(std::max(limit, 3));
}

// A pipe with the smallest possible buffer. The upgrader inherits only the write end of this pipe,
// and writes its log to it.
struct LogPipe {
  LogPipe() {
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4'096);
  }
  ~LogPipe() {
    close(ends[0]);
    close(ends[1]);
  }
  void use_as_log() const { dup2(ends[1], 2); }

  int ends[2] = {};
};

}  // namespace

TEST_CASE("an upgrade for which there are too few descriptors fails, and nothing else does") {
  World world;
  Puppet active = world.first();
  active.expect_silence();
  const pid_t upgrader = world.upgrader().pid();

  for (int more = 0; more < 6; ++more) {
    limit_descriptors(upgrader, limit_for(upgrader, more));
    active.request_upgrade("u1");
    const Json answer = *Json::parse(active.next_line());
    if (answer.text("type") == "accepted") {
      world.agent();
      active.say_type("cancel", R"("id":"u1")");
      active.expect("upgrade_failed");
      continue;
    }
    CHECK(answer.text("type") == "upgrade_failed");
    CHECK((answer.text("stage") == "request" || answer.text("stage") == "spawn"));
    CHECK(answer.text("errno") == "EMFILE");
    active.expect_silence();
  }

  limit_descriptors(upgrader, 1'024);
  world.hand_over(active);
}

TEST_CASE("a sequential upgrade for which there are too few descriptors is fallen back from") {
  World world(
      Start{.options = {"--mode=sequential"}, .environment = environment_without_leak_check()});
  Puppet active = world.first();
  active.expect_silence();
  active.request_upgrade("u1");
  active.expect("accepted");
  active.expect("stop");
  const pid_t upgrader = world.upgrader().pid();
  // With this limit, the upgrader can open no descriptor until the old agent exits. The exit frees
  // enough descriptors for one new agent, but perhaps not for a candidate and then a fallback.
  limit_descriptors(upgrader, limit_for(upgrader, 0));
  active.say_type("stopped");
  active.exit(0);

  // The upgrader must never continue without an agent: it starts a candidate or a fallback, or it
  // exits.
  world.wait_until([&] { return world.agents_started() == 2 || !world.upgrader().running(); },
                   "an agent, or the end");
  if (!world.upgrader().running()) world.expect_exit(125);
}

TEST_CASE("an upgrader that has too few descriptors to begin with exits with 125") {
  World world(Start{.environment = environment_without_leak_check(), .before_exec = [] {
                      const rlimit limit{6, 6};
                      setrlimit(RLIMIT_NOFILE, &limit);
                    }});

  world.expect_exit(125);

  CHECK(world.agents_started() == 0);
}

TEST_CASE("a log that nobody reads keeps the upgrader from nothing") {
  const LogPipe pipe;
  World world(Start{.options = {"--log-level=debug"}, .before_exec = [&] { pipe.use_as_log(); }});
  Puppet active = world.first();

  for (int count = 0; count < 200; ++count) {
    active.request_upgrade("u1", "", "/nonexistent/agent");
    active.expect("upgrade_failed");
  }

  world.hand_over(active);
}

TEST_CASE("a log that nobody can read any more keeps the upgrader from nothing") {
  LogPipe pipe;
  World world(Start{.before_exec = [&] { pipe.use_as_log(); }});
  Puppet active = world.first();
  close(pipe.ends[0]);
  pipe.ends[0] = -1;

  for (int count = 0; count < 200; ++count) {
    active.request_upgrade("u1", "", "/nonexistent/agent");
    active.expect("upgrade_failed");
  }

  world.hand_over(active);
}

TEST_CASE("a shortage of descriptors at AGENT's start is not a fault of AGENT") {
  constexpr rlim_t more_than_the_first_agent_needs = 24;
  constexpr rlim_t enough_to_speak = 5;
  bool served = false;
  for (rlim_t count = enough_to_speak; count < more_than_the_first_agent_needs; ++count) {
    World world{World::Later()};
    world.start(Start{.environment = environment_without_leak_check(), .before_exec = [count] {
                        const rlimit limit{count, count};
                        setrlimit(RLIMIT_NOFILE, &limit);
                      }});

    world.wait_until([&] { return world.agents_started() > 0 || !world.upgrader().running(); },
                     "an agent or the end");

    INFO("with " << count << " descriptors: " << world.log());
    served = world.upgrader().running();
    if (served) break;
    CHECK(world.upgrader().ending() == "exit status 125");
  }
  CHECK(served);
}

}  // namespace resources_test
