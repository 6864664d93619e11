// Tests --subreaper of upgrader(8), and sockets that stay open whichever agent is active.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "tests/together/integration/world.h"

namespace orphans_test {

using namespace integration;

namespace {

pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("PPid:", 0) == 0) return std::stoi(line.substr(5));
  }
  return -1;
}

}  // namespace

TEST_CASE("with --subreaper an agent's orphan comes to the upgrader, which reaps it") {
  World world({"--subreaper", "--trial=0"});
  Puppet old = world.first();
  const pid_t orphan = old.leave_holder();
  CHECK(parent_of(orphan) == old.pid());

  Puppet next = world.hand_over(old);
  next.expect("committed");
  CHECK(parent_of(orphan) == world.upgrader().pid());
  ::kill(orphan, SIGKILL);
  world.wait_until([&] { return parent_of(orphan) == -1; }, "the orphan is reaped");

  // The upgrader has adopted and reaped an orphan, and must not mistake it for the agent. So the
  // upgrader must still notice the agent's exit, and exit, too.
  next.exit(3);
  world.expect_exit(3);
}

TEST_CASE("without --subreaper an agent's orphan is another's") {
  World world({"--trial=0"});
  Puppet old = world.first();
  const pid_t orphan = old.leave_holder();

  world.hand_over(old).expect("committed");

  CHECK(parent_of(orphan) != world.upgrader().pid());
  ::kill(orphan, SIGKILL);
}

TEST_CASE("an orphan that lives when the upgrader ends is left alone") {
  World world({"--subreaper"});
  Puppet active = world.first();
  const pid_t orphan = active.leave_holder();

  world.signal(SIGTERM);
  active.stop_cleanly();
  world.expect_exit(0);

  CHECK(parent_of(orphan) > 0);
  ::kill(orphan, SIGKILL);
}

TEST_CASE("a listening socket that init has passed is never closed, upgrade or fallback") {
  World world{World::Later()};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = world.path("service");
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, name, sizeof address) == 0);
  REQUIRE(::listen(listener, 10) == 0);
  world.start(Start{.options = {"--trial=1h"},
                    .environment = {"LISTEN_FDS=1", "LISTEN_PID=self", "LISTEN_FDNAMES=service"},
                    .before_exec = [&] { ::dup2(listener, 3); }});
  Puppet old = world.agent();
  ::close(listener);
  // A connection waits in the socket's queue until an agent accepts it. So no connection may be
  // refused, even while no agent is active.
  std::vector<int> clients;
  const auto connects = [&] {
    clients.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return ::connect(clients.back(), name, sizeof address) == 0;
  };
  const std::string socket = old.report().value("fd:3");
  CHECK(socket.rfind("socket:", 0) == 0);
  const auto has_it = [&](Puppet& agent) {
    return agent.report().value("fd:3") == socket &&
           agent.report().variable("LISTEN_PID") == std::to_string(agent.pid());
  };
  CHECK(has_it(old));
  old.hello();
  old.ready();
  old.expect("activate");
  CHECK(connects());

  Puppet next = world.begin_upgrade(old);
  CHECK(has_it(next));
  hand_over(old, next);
  old.expect_gone();
  CHECK(connects());
  next.exit(1);
  next.expect_gone();
  CHECK(connects());
  Puppet fallback = world.fallback();
  CHECK(has_it(fallback));
  CHECK(connects());

  for (const int client : clients) {
    char byte;
    CHECK((::read(client, &byte, 1) == -1 && errno == EAGAIN));
    ::close(client);
  }
}

}  // namespace orphans_test
